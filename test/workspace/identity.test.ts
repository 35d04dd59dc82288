import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openFiles } from "../../src/workspace/index.js";
import { Folder, temporaryFolder } from "./folder.js";

const options = { ignore: [], include: [], maxFileBytes: 1000, watch: false };

test("[W12] F52 home, the file-system root, a file and nothing are refused with the reason", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "");
  symlinkSync("/", join(folder, "link"));
  for (const [root, reason] of [
    ["/", "file_system_root"],
    [homedir(), "home"],
    [join(folder, "file"), "not_a_directory"],
    [join(folder, "file/below"), "not_a_directory"],
    [join(folder, "nothing"), "missing"],
    [join(folder, "link"), "file_system_root"],
  ] as const) {
    await expect(openFiles(root, options), root).rejects.toMatchObject({ code: "workspace_refused", data: { reason } });
  }
});

test("[W12] F39 F92 a workspace is its real path with machine, device and inode", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "project"));
  symlinkSync("project", join(folder, "alias"));
  const files = await openFiles(join(folder, "alias"), options);
  onTestFinished(() => files.close());
  expect(files.identity).toMatchObject({
    root: join(folder, "project"),
    device: expect.any(Number),
    inode: expect.any(Number),
  });
  expect(files.identity.machine).not.toBe("");
});

test("[W12] F143 F160 a folder that is gone, moved or replaced is an error, never a mass deletion", async () => {
  const folder = await Folder.open({ a: "a" });
  await folder.sync();
  const away = join(tmpdir(), `retcon-away-${process.pid}`);
  const attempts = [
    () => folder.observe(),
    () => folder.files.look(["a"]),
    () => folder.apply([{ path: "a", before: { kind: "absent" }, after: { kind: "absent" } }]),
  ];
  const expectAll = async (reason: string) => {
    const error = { code: "workspace_changed", data: { root: folder.root, reason } };
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject(error);
  };
  renameSync(folder.root, away);
  await expectAll("missing");
  symlinkSync(away, folder.root);
  await expectAll("moved");
  folder.remove(".");
  mkdirSync(folder.root);
  await expectAll("replaced");
  folder.remove(".");
  renameSync(away, folder.root);
  expect(await folder.sync()).toEqual({});
});
