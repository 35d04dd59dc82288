/**
 * Looking into JSON of unknown shape. A transcript's format is internal to its maker and changes without notice, so
 * nothing in it is believed to have the type that it had last time.
 */
import type { Json } from "../../core/model.js";

/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** Tells whether a value is an object and neither a list nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value if it is an object, else undefined. */
export const objectIn = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined);

/** The value if it is a string, else undefined. */
export const stringIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** The value if it is a string with something in it, else undefined. */
export const textIn = (value: unknown): string | undefined => stringIn(value) || undefined;

/** The objects in a list; none if it is no list. */
export const objectsIn = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
