/**
 * Commander's program, made from the table of verbs and nothing else, so that documentation can be made from the same table.
 */
import { readFileSync } from "node:fs";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import type { Io } from "./io.js";
import type { Flag, Options, Verb } from "./verb.js";
import { verbs } from "./verbs.js";

/** Called with the verb that was chosen, its arguments and its options. */
export type Perform = (verb: Verb, words: readonly string[], options: Options) => Promise<void>;

function count(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 1.");
}

function something(text: string): string {
  if (text !== "") return text;
  throw new InvalidArgumentError("It must not be empty.");
}

function optionOf({ flags, description, choices, kind }: Flag): Option {
  const option = new Option(flags, description);
  if (choices !== undefined) return option.choices(choices);
  if (!option.required) return option;
  return option.argParser<number | string>(kind === "count" ? count : something);
}

function commandOf(verb: Verb, perform: Perform): Command {
  const command = new Command(verb.name).summary(verb.summary);
  const sentence = `${verb.summary.charAt(0).toUpperCase()}${verb.summary.slice(1)}.`;
  command.description(verb.details === undefined ? sentence : `${sentence} ${verb.details}`);
  for (const { name, description, choices } of verb.arguments) {
    const argument = new Argument(`<${name}>`, description).argParser(something);
    command.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  for (const flag of verb.flags) command.addOption(optionOf(flag));
  const examples = verb.examples.map(({ line, does }) => `  retcon ${line}\n      ${does}`);
  command.addHelpText("after", `\nExamples:\n${examples.join("\n")}`);
  return command.action(() => perform(verb, command.args, command.opts<Options>()));
}

const exitText = `
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused, 130 interrupted.
Nodes are named by id, by a unique prefix of it, or as @1 (the newest rewind point), @2 and so on.

Example:
  retcon rewind @1
      take back the newest turn, files included, and print its text`;

/** Makes commander's program. It calls `perform`, throws in place of ending the process, and writes help to the streams. */
export function buildProgram(perform: Perform, { stdout, stderr }: Pick<Io, "stdout" | "stderr">): Command {
  const program = new Command("retcon")
    .description("Rewinds a conversation together with its files.")
    .usage("<verb> [options]")
    .version(version())
    .addHelpText("after", exitText)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: () => undefined,
      getOutHelpWidth: () => stdout.columns ?? 100,
      getErrHelpWidth: () => stderr.columns ?? 100,
    });
  for (const verb of verbs) program.addCommand(commandOf(verb, perform).copyInheritedSettings(program));
  return program;
}

function version(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
