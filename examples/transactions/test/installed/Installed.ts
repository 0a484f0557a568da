/**
 * What the tests of tools that npm installs for them share. Such tools are too large for every run.
 */
import * as Clone from "@wac/testbed/Clone"
import * as Installed from "@wac/testbed/Installed"
import * as PostgresServer from "@wac/testbed/PostgresServer"
import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import pg from "pg"
import { onTestFinished } from "vitest"
import { createWac, postgres, sandbox, type Wac } from "wac"

export const run = promisify(execFile)

const root = fileURLToPath(new URL("../../../..", import.meta.url))

/** A folder in which npm has installed packages. */
export const installed = async (
  packages: ReadonlyArray<string>,
  options?: Installed.Options
): Promise<string> => {
  const { folder, remove } = await Installed.install(packages, options)
  onTestFinished(remove)
  return folder
}

/** A new server, of the install unless told otherwise. */
export const serverOf = async (options: PostgresServer.Options = {}) => {
  const server = await PostgresServer.startWith(options, "fsync=off")
  onTestFinished(server.remove)
  const pool = new pg.Pool({ connectionString: server.url, max: 1 })
  onTestFinished(() => pool.end())
  const rowsOf = async (text: string): Promise<ReadonlyArray<unknown>> => (await pool.query(text)).rows
  return { url: server.url, rowsOf }
}

/** Opens the storage of this version there. */
export const opened = async (url: string): Promise<Wac> => {
  const wac = await createWac({ storage: postgres(url), provider: sandbox(), masterKey: new Uint8Array(32) })
  onTestFinished(() => wac.close())
  return wac
}

/** A commit whose schema has five migrations less; the version that is called the previous one had no schema yet. */
const earlier = "aecc5120"

/** Makes the schema as an earlier version has it. */
export const migratedByEarlier = async (url: string): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), "wac-earlier-"))
  onTestFinished(() => rm(folder, { recursive: true }))
  await Clone.copyCommit(root, earlier, folder, "apps/server")
  await run(process.execPath, ["--conditions=source", "apps/server/src/wac.ts", "migrate"], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: url }
  })
}

export const hello = {
  to: "+4915112345678",
  type: "template",
  template: { name: "hello_world", language: "en_US" }
} as const
