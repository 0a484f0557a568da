/**
 * The API reference: made from the sources as they are, with a docstring for every export, and without a warning.
 */
import * as Extent from "@wac/testbed/Extent"
import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, it, onTestFinished } from "vitest"
import { folders, root } from "../Published.ts"

it("the reference is made of every package: every export has a docstring, and no link leads nowhere", async () => {
  const written = mkdtempSync(join(tmpdir(), "wac-reference-"))
  onTestFinished(() => rmSync(written, { recursive: true }))
  // ends with an error if there is anything to warn of; writing the pages takes a third of the time
  const args = [written, ...Extent.of(["--check"], [])]
  // what a compiler drops is then collected seldom, and what it keeps is not looked through again and again
  const space = ["--min-semi-space-size=128", "--max-semi-space-size=128", "--initial-old-space-size=4000"]
  const program = [...space, join(root, "docs/reference/main.ts")]
  await promisify(execFile)(process.execPath, [...program, ...args])
  const pages = Extent.of([], [...folders.keys()].map((name) => `modules/${name.replace(/\W/g, "_")}.html`))
  for (const page of pages) assert.isTrue(existsSync(join(written, page)), page)
})
