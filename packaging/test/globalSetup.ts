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

export const setup = (project: TestProject): () => void => {
  const packed = mkdtempSync(join(tmpdir(), "wac-packed-"))
  build()
  pack(packed)
  project.provide("packed", packed)
  return () => rmSync(packed, { recursive: true })
}
