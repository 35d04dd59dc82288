/**
 * Ids that come out the same each time the same transcript is read, so that importing it twice adds nothing.
 *
 * A transcript's own ids are kept wherever they can be ids here; others give way to a hash of what they stood for.
 */
import { createHash } from "node:crypto";

const idPattern = /^[A-Za-z0-9_][A-Za-z0-9._:-]{0,127}$/;

const isId = (text: string): boolean => idPattern.test(text);

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 24);

/** The id of the node that a line with this uuid becomes. */
export const nodeIdFor = (uuid: string): string => (isId(uuid) ? uuid : `line-${hash(uuid)}`);

/** The id of a line that carries none: what is in it decides. */
export const idFromContent = (text: string): string => `line-${hash(text)}`;

/** The id of the conversation that a session becomes; `agentId` tells a sub-agent's own file from its session's. */
export function conversationIdFor(session: string, agentId?: string): string {
  const id = agentId === undefined ? `claude-code:${session}` : `claude-code:${session}:${agentId}`;
  return isId(id) ? id : `claude-code:${hash(id)}`;
}
