/**
 * Builds and packs every package, once for all test files.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { build, pack } from "../Packed.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of the packed packages. */
    readonly packed: string
  }
}

/**
 * Names the folder of the packed packages to runs within this one (`canary.test.ts`). They build nothing: a build
 * replaces files that the tests of this run read.
 */
const ofOuterRun = "WAC_TEST_PACKED"

export const setup = (project: TestProject): () => void => {
  const before = process.env[ofOuterRun]
  if (before !== undefined) {
    project.provide("packed", before)
    return () => {}
  }
  const packed = mkdtempSync(join(tmpdir(), "wac-packed-"))
  build()
  pack(packed)
  process.env[ofOuterRun] = packed
  project.provide("packed", packed)
  return () => rmSync(packed, { recursive: true })
}
