/**
 * The API reference: made from the sources as they are, with a docstring for every export, and without a warning.
 */
import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, it, onTestFinished } from "vitest"
import { folders, root } from "../Published.ts"

it("the reference is written for every package, without a warning", async () => {
  const written = mkdtempSync(join(tmpdir(), "wac-reference-"))
  onTestFinished(() => rmSync(written, { recursive: true }))
  // ends with an error if there is anything to warn of
  await promisify(execFile)(process.execPath, [join(root, "docs/reference/main.ts"), written])
  for (const name of folders.keys()) {
    assert.isTrue(existsSync(join(written, "modules", `${name.replace(/\W/g, "_")}.html`)), name)
  }
  assert.include(readFileSync(join(written, "functions", "wac.createWac.html"), "utf8"), "Starts the service")
}, 300_000)
