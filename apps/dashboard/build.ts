/**
 * Builds the pages into `packages/http/dist/dashboard`, from where the HTTP package serves and publishes them. Does
 * nothing if they were built from the present sources. `--before-start` reports a failure and exits with 0: the service
 * runs without its pages.
 */
import { createHash, randomUUID } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"

const root = join(import.meta.dirname, "../..")
const dist = join(root, "packages/http/dist")
const built = join(dist, "dashboard")

const filesOf = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile()).map(({ name, parentPath }) => join(parentPath, name))

const { dependencies }: { readonly dependencies: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(import.meta.dirname, "package.json"), "utf8")
)

/** Our packages that the pages use. */
const packages = Object.keys(dependencies).filter((name) => name.startsWith("@wac/"))
  .map((name) => name.slice("@wac/".length))

/** All that the pages are made of. */
const sources: ReadonlyArray<string> = [
  ...["build.ts", "index.html", "package.json", "vite.config.ts"].map((name) => join(import.meta.dirname, name)),
  ...["public", "src"].flatMap((name) => filesOf(join(import.meta.dirname, name))),
  ...packages.flatMap((name) => filesOf(join(root, "packages", name, "src"))),
  join(root, "package-lock.json")
].sort()

const sourcesHash = (): string => {
  const hash = createHash("sha256")
  for (const file of sources) hash.update(file.slice(root.length)).update("\0").update(readFileSync(file))
  return hash.digest("hex")
}

const builtHash = (): string | undefined => {
  try {
    return readFileSync(join(built, "sources"), "utf8").split("\n")[0]
  } catch {
    return undefined
  }
}

/** What a build that ends returns. */
interface Built {
  readonly output: ReadonlyArray<{ readonly moduleIds?: ReadonlyArray<string> }>
}

/** The folders of the packages of others that are in the pages, for the list of what the server's package contains. */
const librariesOf = ({ output }: Built): ReadonlyArray<string> =>
  [
    ...new Set(
      output.flatMap(({ moduleIds = [] }) => moduleIds).flatMap((path) => {
        const folder = /^\0?(.*node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]
        // a linked package is outside of the root
        return folder === undefined ? [] : [relative(root, folder)]
      })
    )
  ].sort()

/** Fails if the pages contain a file of this repository whose change would not build them again. */
const checkSources = ({ output }: Built): void => {
  const own = output.flatMap(({ moduleIds = [] }) => moduleIds)
    .filter((path) => path.startsWith(root) && !path.includes("node_modules"))
  const missing = own.filter((path) => !sources.includes(path.replace(/\?.*/, "")))
  if (missing.length > 0) throw new Error(`the hash of the sources leaves out ${missing.join(", ")}`)
}

const build = async (hash: string): Promise<void> => {
  const begun = performance.now()
  mkdirSync(dist, { recursive: true })
  // another process may build at the same time: each writes a directory of its own, and puts it in place when it is
  // whole
  const own = join(dist, `dashboard-${randomUUID()}`)
  const before = `${own}-before`
  try {
    // tests, and who develops a host, have another here, for which React would bring what only its developers need
    process.env["NODE_ENV"] = "production"
    const vite = await import("vite")
    const output = await vite.build({
      configFile: join(import.meta.dirname, "vite.config.ts"),
      logLevel: "warn",
      build: { outDir: own, emptyOutDir: true }
    }) as Built
    checkSources(output)
    writeFileSync(join(own, "sources"), [hash, ...librariesOf(output)].join("\n"))
    try {
      renameSync(built, before)
    } catch {
      // there was none
    }
    renameSync(own, built)
  } finally {
    for (const left of [own, before]) rmSync(left, { recursive: true, force: true })
  }
  process.stdout.write(`built the dashboard in ${((performance.now() - begun) / 1000).toFixed(1)} s\n`)
}

try {
  const hash = sourcesHash()
  if (hash !== builtHash()) await build(hash)
} catch (error) {
  if (!process.argv.includes("--before-start")) throw error
  const why = error instanceof Error ? error.message : String(error)
  process.stderr.write(`the dashboard could not be built, so the service runs without it: ${why}\n`)
}
