/**
 * Who holds a run or an unsettled operation, and whether that process still lives.
 *
 * A process is told from a later one with the same number by its start time, its pid namespace and the boot it runs in.
 * On this machine a holder is dead exactly when its process is gone: age alone never makes a lease stale here. Of another
 * machine nothing can be known, and a lease runs out by time.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { Holder } from "../core/change.js";

function readOr(read: () => string, otherwise: string): string {
  try {
    return read().trim();
  } catch (error) {
    // Systems without /proc do without these marks.
    if (["ENOENT", "EACCES", "ENOTDIR", "EINVAL", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? ""))
      return otherwise;
    throw error;
  }
}

const file = (path: string, otherwise = "") => readOr(() => readFileSync(path, "utf8"), otherwise);

/** Field 22 of /proc/<pid>/stat: the start in clock ticks since boot. The name in field 2 may hold anything. */
const startOf = (pid: number | "self"): string => {
  const stat = file(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
};

type Process = Omit<Holder, "instance">;

let own: Process | undefined;
const instances = new Set<string>();

function thisProcess(): Process {
  own ??= {
    machine: file("/etc/machine-id") || hostname(),
    boot: file("/proc/sys/kernel/random/boot_id"),
    namespace: readOr(() => readlinkSync("/proc/self/ns/pid"), ""),
    pid: process.pid,
    startedAt: startOf("self"),
  };
  return own;
}

/** The identity of a store that opens in this process; it lives until `release`. */
export function claimHolder(instance: string): Holder {
  instances.add(instance);
  return { ...thisProcess(), instance };
}

/** Says that a store of this process was closed. */
export function releaseHolder(holder: Holder): void {
  instances.delete(holder.instance);
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Whether a holder lives; undefined for one on another machine, or in another pid namespace of this boot. */
export function isAlive(holder: Holder): boolean | undefined {
  const me = thisProcess();
  if (holder.machine !== me.machine) return undefined;
  if (holder.boot !== me.boot) return false;
  if (holder.namespace !== me.namespace) return undefined;
  if (holder.pid === me.pid && holder.startedAt === me.startedAt) return instances.has(holder.instance);
  return exists(holder.pid) && startOf(holder.pid) === holder.startedAt;
}

/** A holder in words, for messages. */
export const holderName = (holder: Holder): string => `process ${holder.pid} on ${holder.machine.slice(0, 12)}`;
