/**
 * `npm run demo`: a conversation about a small project, rewound together with its files, every claim checked on disk.
 * `npm run demo -- FILE.jsonl`: the same with an imported transcript.
 */
import { openStore } from "../index.js";
import { playRewinds } from "./rewinds.js";
import { Stage } from "./stage.js";
import { playStory } from "./story.js";
import { playTranscript } from "./transcript.js";

const stage = new Stage();
const store = await openStore({ file: stage.database });
const file = process.argv[2];
if (file === undefined) {
  stage.copyProject();
  console.log(`A conversation about the project in ${stage.root}`);
  const chat = await store.createConversation({ title: "Corner shop", workspace: stage.root });
  await playRewinds(stage, chat, await playStory(stage, chat));
} else await playTranscript(stage, store, file);
await store.close();
process.exitCode = stage.close();
