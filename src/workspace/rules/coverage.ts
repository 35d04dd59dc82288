/**
 * Which paths a workspace covers. Rules ignore, and three things bring back: what git tracks, what `include` names, and
 * what an edit tool announced.
 *
 *     built-in < global excludes < info/exclude < .gitignore, .retconignore of each folder, deeper ones last
 *
 * A folder that is ignored is not looked into, unless something that is brought back may lie below: then it is on the way,
 * its own state is covered, and of its contents only what is brought back. The rules are plain data (`CoverageRules`), so
 * that a later look can ask what an earlier one covered.
 */
import ignore, { type Ignore } from "ignore";
import type { CoverageRules } from "../../core/files.js";
import { ancestorsOf, parentOf } from "../paths.js";
import { compileInclude, type Inclusion } from "./include.js";
import { caseLine, patternsFromRoot } from "./patterns.js";

/** How a path stands: covered, ignored, or an ignored folder on the way to something covered. */
export type Standing = "covered" | "way" | "ignored";

/** Names of the files that hold rules, in the order in which they count. */
export const ruleFiles: readonly string[] = [".gitignore", ".retconignore"];

/** Whether a set of rules covered a path; a path that ends in "/" is asked about as a folder. */
export function covers(rules: CoverageRules, path: string): boolean {
  const isDirectory = path.endsWith("/");
  return new Coverage(rules).covers(isDirectory ? path.slice(0, -1) : path, isDirectory);
}

/** Rules made ready to judge paths; sources may be added on the way down a tree. */
export class Coverage {
  readonly #rules: CoverageRules;
  readonly #ignorecase: boolean;
  readonly #own: Ignore | undefined;
  readonly #inclusion: Inclusion;
  readonly #forced: Set<string>;
  readonly #ways = new Set<string>();
  readonly #sources = new Map<string, string[]>();
  readonly #chains = new Map<string, Ignore>();
  /** Paths that a rule ignores, as far as it was asked. */
  readonly #ignored = new Set<string>();
  readonly #folders = new Map<string, Standing>();

  constructor(rules: CoverageRules, announced: Iterable<string> = []) {
    this.#rules = rules;
    this.#ignorecase = rules.sources[0]?.text.startsWith(caseLine) ?? false;
    const own = rules.options.ignore;
    this.#own = own.length === 0 ? undefined : ignore({ ignorecase: this.#ignorecase }).add(own);
    this.#inclusion = compileInclude(rules.options.include, this.#ignorecase);
    this.#forced = new Set([...rules.tracked, ...announced]);
    for (const path of this.#forced) this.#markWay(path);
    for (const { directory, text } of rules.sources) this.addSource(directory, text);
  }

  /** Adds the text of a rule file before anything below its folder is judged. */
  addSource(directory: string, text: string): void {
    const texts = this.#sources.get(directory);
    if (texts === undefined) this.#sources.set(directory, [text]);
    else if (texts.includes(text)) return;
    else texts.push(text);
    this.#chains.delete(directory);
    this.#folders.clear();
  }

  /** How a path stands in a folder that is itself covered, or (`pruned`) only on the way. */
  standing(path: string, isDirectory: boolean, pruned: boolean): Standing {
    const named = isDirectory ? `${path}/` : path;
    if (!pruned && !this.#ignores(path, named)) return "covered";
    this.#ignored.add(path);
    if (this.#inclusion.includes(named, pruned)) return "covered";
    if (isDirectory && (this.#ways.has(path) || this.#forced.has(path) || this.#inclusion.reaches(named))) return "way";
    return this.#forced.has(path) ? "covered" : "ignored";
  }

  /** How a folder stands, judged from the root down. */
  folder(directory: string): Standing {
    if (directory === "") return "covered";
    const known = this.#folders.get(directory);
    if (known !== undefined) return known;
    const above = this.folder(parentOf(directory));
    const standing = above === "ignored" ? above : this.standing(directory, true, above === "way");
    this.#folders.set(directory, standing);
    return standing;
  }

  /** Whether a path is covered, judged from the root down. */
  covers(path: string, isDirectory: boolean): boolean {
    const parent = this.folder(parentOf(path));
    return parent !== "ignored" && this.standing(path, isDirectory, parent === "way") !== "ignored";
  }

  /**
   * The rules as data: sources by folder, and of the tracked paths only those that a rule ignores. Of the paths in `met`
   * that is known already.
   */
  toRules(tracked: Iterable<string>, met: ReadonlySet<string>): CoverageRules {
    const needed = (path: string) => this.#ignored.has(path) || (!met.has(path) && this.#ignores(path, path));
    const sources = [...this.#sources].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      options: this.#rules.options,
      sources: sources.flatMap(([directory, texts]) => texts.map((text) => ({ directory, text }))),
      tracked: [...tracked].filter(needed).sort(),
    };
  }

  #ignores(path: string, named: string): boolean {
    return this.#chain(parentOf(path)).ignores(named) || (this.#own?.ignores(named) ?? false);
  }

  #chain(directory: string): Ignore {
    const known = this.#chains.get(directory);
    if (known !== undefined) return known;
    const above = directory === "" ? ignore({ ignorecase: this.#ignorecase }) : this.#chain(parentOf(directory));
    const texts = this.#sources.get(directory);
    let chain = above;
    if (texts !== undefined) {
      const patterns = texts.flatMap((text) => patternsFromRoot(directory, text));
      chain = ignore({ ignorecase: this.#ignorecase }).add(above).add(patterns);
    }
    this.#chains.set(directory, chain);
    return chain;
  }

  #markWay(path: string): void {
    for (const above of ancestorsOf(path)) {
      if (this.#ways.has(above)) return;
      this.#ways.add(above);
    }
  }
}
