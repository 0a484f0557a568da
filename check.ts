/**
 * The checks of the sources, besides the tests: `npm run check`, or some of them: `npm run check -- types lint`.
 *
 * Two run at a time. Effect's diagnostics take the longest, so they run for the files that changed since they were
 * last found clean on this machine, which is every file on a fresh clone.
 */
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const root = import.meta.dirname
const cache = join(root, "node_modules/.cache")

/** What a program wrote, and whether it found nothing. */
interface Outcome {
  readonly isClean: boolean
  readonly output: string
}

const run = (program: string, ...args: ReadonlyArray<string>): Promise<Outcome> =>
  new Promise((resolve) => {
    const child = spawn(join(root, "node_modules/.bin", program), args, {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"]
    })
    let output = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => output += text)
    }
    child.once("error", ({ message }) => resolve({ isClean: false, output: message }))
    child.once("close", (code) => resolve({ isClean: code === 0, output }))
  })

/** The folders with sources or tests in TypeScript. */
const folders = [
  "packages",
  "apps",
  "examples",
  "bench",
  "faults",
  "mutation",
  "simulation",
  "packaging",
  "docs/reference",
  ".ci",
  "."
]

const isSource = (file: string): boolean => /\.tsx?$/.test(file) && !/(^|\/)(node_modules|dist)\//.test(file)

const sources = (): ReadonlyArray<string> =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: folder !== ".", encoding: "utf8" })
      .map((file) => join(folder, file))
      .filter(isSource)
  )

/** What the diagnostics of every file depend on. */
const shared = ["package-lock.json", "tsconfig.base.json", "tsconfig.test.json"]

/** A text that changes with what a file's diagnostics depend on, but for the types that it imports. */
const stateOf = (file: string): string => {
  const hash = createHash("sha256")
  for (const each of [...shared, file]) hash.update(readFileSync(join(root, each))).update("\0")
  return hash.digest("hex")
}

const cleanFile = join(cache, "effect-diagnostics.json")

const readClean = (): Readonly<Record<string, string>> => {
  try {
    return JSON.parse(readFileSync(cleanFile, "utf8"))
  } catch {
    return {}
  }
}

const diagnostics = async (): Promise<Outcome> => {
  const clean = readClean()
  const states = Object.fromEntries(sources().map((file) => [file, stateOf(file)]))
  const changed = Object.keys(states).filter((file) => clean[file] !== states[file])
  if (changed.length === 0) return { isClean: true, output: "" }
  mkdirSync(cache, { recursive: true })
  const project = join(cache, "tsconfig.diagnostics.json")
  const configuration = {
    extends: join(root, "tsconfig.test.json"),
    compilerOptions: { incremental: false, tsBuildInfoFile: null },
    files: changed.map((file) => join(root, file)),
    include: []
  }
  writeFileSync(project, JSON.stringify(configuration))
  const outcome = await run("effect-tsgo", "diagnostics", "--project", project, "--strict", "--format", "text")
  if (outcome.isClean) writeFileSync(cleanFile, JSON.stringify(states))
  return outcome
}

/** In the order in which they begin: the longest first. */
const parts: Readonly<Record<string, () => Promise<Outcome>>> = {
  "types: sources and tests": () => run("tsc", "-p", "tsconfig.test.json"),
  "types: packages as they are built": () => run("tsc", "-b"),
  "types: Effect's diagnostics": diagnostics,
  "unused: all": () => run("knip", "--no-config-hints"),
  "unused: in what is published": () =>
    run("knip", "--no-config-hints", "--production", "--strict", "--include", "dependencies,unlisted,unresolved"),
  "format": () => run("dprint", "check"),
  "lint": () => run("oxlint", "--deny-warnings")
}

/** As many as a small machine has processors; each of the first two takes a gigabyte. */
const atATime = 2

const asked = process.argv.slice(2)
const isAsked = (name: string) => asked.length === 0 || asked.some((word) => name.startsWith(word))
const waiting = Object.entries(parts).filter(([name]) => isAsked(name))
if (waiting.length === 0) throw new Error(`no check is called ${asked.join(" or ")}: ${Object.keys(parts).join(", ")}`)

const work = async (): Promise<void> => {
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
    const [name, check] = part
    const begun = performance.now()
    const { isClean, output } = await check()
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    process.stdout.write(`${isClean ? "clean" : "FAILED"}: ${name} (${seconds} s)\n${isClean ? "" : output}`)
    if (!isClean) process.exitCode = 1
  }
}

await Promise.all(Array.from({ length: atATime }, work))
