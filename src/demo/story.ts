/**
 * The scripted conversation: five turns by edit tool and shell, with a person's own edits in between.
 */
import type { Conversation } from "../index.js";
import type { Manifest, Stage } from "./stage.js";

/** A turn that was played: its user node, its prompt, and the folder just before it began. */
export interface PlayedTurn {
  userNodeId: string;
  prompt: string;
  before: Manifest;
}

/** One step of an agent: an edit tool that announces its path, or a shell command that announces nothing. */
type Action = { edit: string; from: string; to: string } | { create: string; text: string } | { shell: string };

/** A person's edit, as text out and text in, so that it can also be made on what is expected. */
interface PersonalEdit {
  path: string;
  from: string;
  to: string;
}

const largerTitle: PersonalEdit = { path: "css/style.css", from: "font-size: 2rem", to: "font-size: 3rem" };
const politeOrder: PersonalEdit = { path: "js/main.js", from: '"Thank you"', to: '"Thank you, it is on its way"' };

/** Plays one turn with its actions and an answer. */
export async function playTurn(
  stage: Stage,
  chat: Conversation,
  prompt: string,
  actions: Action[],
): Promise<PlayedTurn> {
  stage.step(`Turn: "${prompt}"`);
  const before = stage.manifest();
  const turn = await chat.beginTurn(prompt);
  for (const action of actions) {
    if ("shell" in action) {
      stage.say(`shell  ${action.shell}`);
      stage.shell(action.shell);
    } else if ("create" in action) {
      stage.say(`write  ${action.create}`);
      await turn.willChange(action.create);
      stage.write(action.create, action.text);
    } else {
      stage.say(`edit   ${action.edit}`);
      await turn.willChange(action.edit);
      stage.write(action.edit, stage.read(action.edit).replace(action.from, action.to));
    }
  }
  await turn.append({ role: "assistant", content: [{ type: "text", text: "Done." }] });
  const { changes } = await turn.end();
  stage.say(`seen   ${changes.map((change) => `${change.kind} ${change.path}`).join(", ")}`);
  return { userNodeId: turn.userNodeId, prompt, before };
}

function byHand(stage: Stage, edit: PersonalEdit): void {
  stage.say(`a person edits ${edit.path}: ${edit.from} becomes ${edit.to}`);
  stage.write(edit.path, stage.read(edit.path).replace(edit.from, edit.to));
}

function fileByHand(stage: Stage, path: string, text: string): void {
  stage.say(`a person writes ${path}`);
  stage.write(path, text);
}

/** Plays the five turns, oldest first. */
export async function playStory(stage: Stage, chat: Conversation): Promise<PlayedTurn[]> {
  const turns: PlayedTurn[] = [];
  const play = async (prompt: string, ...actions: Action[]) => turns.push(await playTurn(stage, chat, prompt, actions));

  await play("make the button blue", { edit: "css/style.css", from: "background: red", to: "background: blue" });
  fileByHand(stage, "notes.txt", "ask about opening hours\n");

  await play(
    "put a footer on the page",
    { shell: "mkdir partials && echo '<footer>Corner shop</footer>' > partials/footer.html" },
    { shell: "sed 's|</body>|<footer></footer></body>|' index.html > index.new && mv index.new index.html" },
  );

  await play(
    "tidy up the scripts",
    { shell: "mv js/greet.js js/hello.js && rm -r js/old" },
    { shell: "sed 's|./greet.js|./hello.js|' js/main.js > js/main.new && mv js/main.new js/main.js" },
  );
  byHand(stage, largerTitle);

  await play(
    "make the button round, and add a dark theme",
    { edit: "css/style.css", from: "background: blue;\n", to: "background: blue;\n  border-radius: 1rem;\n" },
    { create: "css/dark.css", text: "body {\n  background: black;\n}\n" },
  );

  await play(
    "move the news out of content",
    { shell: "mkdir news && mv content/news.md news/may.md && rm content/about.md && rmdir content" },
    { shell: "chmod 700 scripts/build.sh && ./scripts/build.sh" },
  );
  byHand(stage, politeOrder);
  fileByHand(stage, "todo.txt", "order flour\n");
  return turns;
}

/** The folder before a turn, plus what the person did since then. */
export function withPersonalEdits(before: Manifest, now: Manifest): Manifest {
  const expected = new Map(before);
  for (const edit of [largerTitle, politeOrder]) {
    const entry = expected.get(edit.path);
    if (entry !== undefined) expected.set(edit.path, entry.replace(edit.from, edit.to));
  }
  // The build folder is ignored, so it is nobody's and stays.
  for (const [path, entry] of now) if (/^(todo\.txt$|build(\/|$))/.test(path)) expected.set(path, entry);
  return expected;
}
