/**
 * The packed server of an earlier version.
 */
import * as Clone from "@wac/testbed/Clone"
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { packFolder } from "../../Packed.ts"
import { root } from "../../Published.ts"
import * as PackedServer from "../PackedServer.ts"

/**
 * A commit whose packed server works. That of `packaging/previous-version` does not start with telemetry, since its
 * bundle lacks what a lazy module exports; once a later version is tagged, that file is the place to look.
 */
const commit = "3c6bf1bc"

/** Builds, packs and installs it. */
export const install = async (): Promise<PackedServer.PackedServer> => {
  const folder = mkdtempSync(join(tmpdir(), "wac-earlier-"))
  try {
    const [sources, packed] = [join(folder, "sources"), join(folder, "packed")]
    for (const each of [sources, packed]) mkdirSync(each)
    await Clone.copyCommit(root, commit, sources)
    await promisify(execFile)(process.execPath, [join(sources, "apps/server/build.ts")], { cwd: sources })
    packFolder(packed, join(sources, "apps/server/dist"))
    return PackedServer.install(packed)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
