/**
 * Ignore patterns as text. Rules of a deeper folder are rewritten so that they hold from the root, which lets one matcher
 * judge a path with git's precedence: the last rule that matches wins, and what lies in an ignored folder is ignored.
 *
 *     in a/b/.gitignore       from the root
 *     *.log                   /a/b/ any depth /*.log
 *     /out                    /a/b/out
 *     !keep/me                !/a/b/keep/me
 */

/** Folders that are heavy and made by tools. Any rule with `!` brings one back, and so does an include pattern. */
export const heavyFolders = `node_modules/
bower_components/
.pnpm-store/
.venv/
__pycache__/
.cache/
.mypy_cache/
.pytest_cache/
.ruff_cache/
.tox/
.gradle/
.terraform/
.next/
.nuxt/
.svelte-kit/
.turbo/
.parcel-cache/
.hg/
.svn/
.DS_Store
`;

/** The line that says, in the text of the built-in rules, that letter case does not count on this file system. */
export const caseLine = "# letter case does not count";

/** The lines of an ignore file as patterns that hold from the root. */
export function patternsFromRoot(directory: string, text: string): string[] {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const patterns = lines.filter((line) => line.trim() !== "" && !line.startsWith("#"));
  return directory === "" ? patterns : patterns.map((line) => fromRoot(directory, line));
}

function fromRoot(directory: string, line: string): string {
  const negative = line.startsWith("!");
  const pattern = negative ? line.slice(1) : line;
  const anchored = pattern.replace(/\/\s*$/, "").includes("/");
  const prefix = `/${directory.replace(/[\\*?[\]!# ]/g, "\\$&")}/`;
  return `${negative ? "!" : ""}${prefix}${anchored ? pattern.replace(/^\//, "") : `**/${pattern}`}`;
}
