/**
 * The packed server of the version before this one, which `packaging/previous-version` names.
 */
import * as Clone from "@wac/testbed/Clone"
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { packFolder } from "../../Packed.ts"
import { root } from "../../Published.ts"
import * as PackedServer from "../PackedServer.ts"

/** Builds, packs and installs it. */
export const install = async (): Promise<PackedServer.PackedServer> => {
  const folder = mkdtempSync(join(tmpdir(), "wac-earlier-"))
  try {
    const [sources, packed] = [join(folder, "sources"), join(folder, "packed")]
    for (const each of [sources, packed]) mkdirSync(each)
    await Clone.copyCommit(root, readFileSync(join(root, "packaging/previous-version"), "utf8").trim(), sources)
    await promisify(execFile)(process.execPath, [join(sources, "apps/server/build.ts")], { cwd: sources })
    packFolder(packed, join(sources, "apps/server/dist"))
    return PackedServer.install(packed)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
