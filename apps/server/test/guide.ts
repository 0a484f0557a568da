/**
 * The commands of a guide that need more than a server: a test prepares what they need, and runs them word for word but
 * for addresses.
 */
import { assert } from "@effect/vitest"
import * as Daemon from "@wac/testbed/Daemon"
import { owner } from "@wac/testbed/Owner"
import * as Program from "@wac/testbed/Program"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { readFile, rm } from "node:fs/promises"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as programs from "./programs.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))

/** The blocks of commands that a guide marks with this place (`sh in="…"`), in their order. */
export const blocks = (guide: string, place: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(Effect.promise(() => readFile(path.join(root, "docs/guides", guide), "utf8")), (text) => {
    const found = [...text.matchAll(/^```sh in="([^"]*)"\n(.*?)^```$/gms)].filter(([, where]) => where === place)
    assert.isNotEmpty(found, `${guide}: ${place}`)
    return found.map(([, , code]) => code!)
  })

/** Runs commands in a shell, with each address of the guide replaced; gives what they wrote. */
export const run = (
  commands: string,
  options: {
    readonly replaced: ReadonlyArray<readonly [inGuide: string, here: string]>
    readonly directory?: string
    readonly env?: Readonly<Record<string, string>>
    /** As the user that owns PostgreSQL's data. */
    readonly asOwner?: boolean
  }
): Effect.Effect<string> =>
  Effect.promise(async () => {
    const { asOwner = false, directory = ".", env, replaced } = options
    const here = replaced.reduce((text, [inGuide, here]) => text.replaceAll(inGuide, here), commands)
    const wac = `npx() { shift; ${process.execPath} "${await programs.path("wac")}" "$@"; }`
    // what stays in the background keeps no pipe of ours open
    const output = path.join(await Daemon.directory("wac-guide-"), "output")
    const script = `${wac}\n{\n${here}\n} >${output} 2>&1`
    const ended = promisify(execFile)("bash", ["--norc", "-euo", "pipefail", "-c", script], {
      cwd: path.resolve(root, directory),
      env: { PATH: Program.searchPath, LC_ALL: "C.UTF-8", ...env },
      ...(asOwner ? owner() : {})
    })
    const failure = await ended.then(() => undefined, (error: Error) => error)
    const text = await readFile(output, "utf8")
    await rm(path.dirname(output), { recursive: true, force: true })
    if (failure !== undefined) throw new Error(`${failure.message}\n${text}`)
    return text
  })
