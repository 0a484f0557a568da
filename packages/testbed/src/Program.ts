/**
 * Programs that tests need and no npm package contains. Tests whose programs are missing are skipped, and the run lists
 * them at its end.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"

const packages = "/usr/lib/postgresql"

/**
 * The directory of the newest PostgreSQL from Debian's packages. The PostgreSQL that npm installs has only the server
 * and `initdb`.
 */
export const postgresBin: string = (existsSync(packages) ? readdirSync(packages) : [])
  .sort((one, other) => Number(other) - Number(one))
  .map((version) => join(packages, version, "bin"))
  .find((directory) => existsSync(join(directory, "postgres"))) ?? join(packages, "15/bin")

/** Debian installs some programs outside of ordinary users' search path. */
export const searchPath = `${postgresBin}:${process.env["PATH"] ?? ""}:/usr/sbin`

/** A program that must exist, or a command that must succeed. */
export type Check = string | readonly [program: string, ...args: ReadonlyArray<string>]

/** The requirements of tests. */
export interface Needs {
  readonly programs: ReadonlyArray<Check>
  /** The behaviour that is not tested without the programs. */
  readonly untested: string
  /** The command that installs the programs. */
  readonly install: string
}

/** Why tests are skipped. */
export interface LeftOut {
  readonly untested: string
  readonly missing: ReadonlyArray<string>
  readonly install: string
}

/** Options of a test or a suite. */
export interface Options {
  readonly skip?: boolean
  readonly meta?: { readonly leftOut: LeftOut }
}

const isMissing = (check: Check): boolean => {
  const [program, ...args] = typeof check === "string" ? [check, "--version"] : check
  const { error, status } = spawnSync(program, args, { env: { ...process.env, PATH: searchPath } })
  return error !== undefined || (typeof check !== "string" && status !== 0)
}

/**
 * The options of a test or a suite that needs programs of the machine. If one is missing, its tests are skipped and the
 * list at the end of the run says why. A test that is skipped in another way fails the run.
 */
export const needed = ({ install, programs, untested }: Needs): Options => {
  const missing = programs.filter(isMissing).map((check) => typeof check === "string" ? check : check[0])
  return missing.length === 0 ? {} : { skip: true, meta: { leftOut: { untested, missing, install } } }
}
