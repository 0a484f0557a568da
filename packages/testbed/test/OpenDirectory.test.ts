import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "vitest"
import { isOpen, openCopy } from "../src/OpenDirectory.ts"

it("a copy of programs from a closed directory can be entered by every user", () => {
  const closed = mkdtempSync(join(tmpdir(), "wac-closed-"))
  try {
    const programs = join(closed, "native/bin")
    mkdirSync(programs, { recursive: true })
    writeFileSync(join(programs, "initdb"), "")
    assert.isFalse(isOpen(programs))
    const copy = openCopy(join(closed, "native"))
    assert.isTrue(isOpen(join(copy, "bin")))
  } finally {
    rmSync(closed, { recursive: true })
  }
})
