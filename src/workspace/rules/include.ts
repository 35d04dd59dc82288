/**
 * Include patterns: what comes back in although it is ignored. A pattern without a slash names things in folders that are
 * covered anyway (`.env`); one with a slash is anchored at the root and reaches into ignored folders (`build/keep/*.txt`),
 * which are then looked into only along the way to what it names.
 */
import ignore, { type Ignore } from "ignore";

/** Tells what include patterns bring back, and which ignored folders must be looked into for it. */
export interface Inclusion {
  /** Whether a path is included. `path` ends in "/" for a folder; `pruned` when it lies in an ignored one. */
  includes(path: string, pruned: boolean): boolean;
  /** Whether something that is included may lie below a folder. `path` ends in "/". */
  reaches(path: string): boolean;
}

/** Compiles include patterns. */
export function compileInclude(patterns: readonly string[], ignorecase: boolean): Inclusion {
  const all = ignore({ ignorecase }).add([...patterns]);
  const anchored = patterns.filter((pattern) => bare(pattern).includes("/"));
  const deep = ignore({ ignorecase }).add(anchored);
  const open = ignore({ ignorecase });
  const along: Ignore[] = [];
  for (const pattern of anchored) {
    if (pattern.startsWith("!")) continue;
    const names = bare(pattern).replace(/^\//, "").split("/");
    for (let depth = 1; depth < names.length; depth += 1) {
      const prefix = `/${names.slice(0, depth).join("/")}`;
      if (names[depth - 1] === "**") {
        open.add(prefix);
        break;
      }
      along[depth - 1] ??= ignore({ ignorecase });
      along[depth - 1]?.add(`${prefix}/`);
    }
  }
  return {
    includes: (path, pruned) => (pruned ? deep : all).ignores(path),
    reaches: (path) => {
      const depth = path.split("/").length - 2;
      return (along[depth]?.ignores(path) ?? false) || open.ignores(path);
    },
  };
}

function bare(pattern: string): string {
  return pattern.replace(/^!/, "").replace(/\/\s*$/, "");
}
