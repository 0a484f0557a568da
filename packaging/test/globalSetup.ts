/**
 * Builds and packs every package, once for all test files.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { root } from "../Published.ts"
import { pack } from "./Packages.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of the packed packages. */
    readonly packed: string
  }
}

export const setup = (project: TestProject): () => void => {
  const packed = mkdtempSync(join(tmpdir(), "wac-packed-"))
  execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-b"], { cwd: root, stdio: "inherit" })
  execFileSync(process.execPath, [join(root, "apps/dashboard/build.ts")], { stdio: "inherit" })
  pack(packed)
  project.provide("packed", packed)
  return () => rmSync(packed, { recursive: true })
}
