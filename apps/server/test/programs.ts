/**
 * The programs that tests start as processes, bundled as they are published. From its sources a process takes twice the
 * time to start.
 */
import { build } from "esbuild"
import { createHash } from "node:crypto"
import { existsSync, readdirSync, statSync } from "node:fs"
import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm, stat, symlink } from "node:fs/promises"
import { join } from "node:path"
import { bundled, root } from "../bundle.ts"

const sources = {
  wac: "apps/server/src/wac.ts",
  demo: "apps/server/src/demo.ts",
  steered: "apps/server/test/steered.ts",
  ageing: "apps/server/test/ageing.ts",
  shop: "apps/server/test/outbox/shop.ts",
  subscriber: "apps/server/test/subscriptions/subscriber.ts"
}

/** The name of a bundled program. */
export type Name = keyof typeof sources

const cache = join(root, "node_modules/.cache/wac")

/** Where everything is that they are made of, but for the installed packages. */
const folders = [
  ...readdirSync(join(root, "packages")).map((name) => `packages/${name}/src`),
  "apps/server/src",
  "apps/server/test"
]

/** Changes with each file that they are made of. */
const version = (): string => {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).sort().map((name) => join(folder, name))
  )
  const hash = createHash("sha256")
  for (const file of ["package-lock.json", "apps/server/bundle.ts", "apps/server/package.json", ...files]) {
    const { mtimeMs, size } = statSync(join(root, file))
    hash.update(`${file} ${mtimeMs} ${size}\n`)
  }
  return hash.digest("hex").slice(0, 16)
}

/** How long a bundle of earlier sources is left to processes that may still run it, in milliseconds. */
const leftFor = 3_600_000

const removeOld = async (folder: string): Promise<void> => {
  for (const name of await readdir(cache)) {
    const path = join(cache, name)
    if (!name.startsWith("programs-") || path === folder) continue
    const { mtimeMs } = await stat(path)
    if (Date.now() - mtimeMs > leftFor) await rm(path, { recursive: true, force: true })
  }
}

/** Gives the folder of the programs. */
const bundle = async (): Promise<string> => {
  const folder = join(cache, `programs-${version()}`)
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true })
    const own = await mkdtemp(`${folder}-`)
    const outdir = join(own, "dist")
    await build({ ...bundled, entryPoints: Object.values(sources), entryNames: "[name]", outdir, logLevel: "warning" })
    await copyFile(join(root, "apps/server/package.json"), join(own, "package.json"))
    await symlink(join(root, "packages/http/dist/dashboard"), join(outdir, "dashboard"))
    await symlink(join(root, "docs"), join(outdir, "docs"))
    // some commands of guides run as the user that owns PostgreSQL's data
    await chmod(own, 0o755)
    // processes that bundle at the same time do not disturb each other: a folder gets its name when it is complete
    await rename(own, folder).catch(async (error: NodeJS.ErrnoException) => {
      await rm(own, { recursive: true, force: true })
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error
    })
    await removeOld(folder)
  }
  return join(folder, "dist")
}

let made: Promise<string> | undefined

/** Gives the folder of the programs. Bundles them unless that was done since their sources changed. */
export const folder = (): Promise<string> => made ??= bundle()

/** Gives where V8 keeps the compiled code of the programs: what one process has compiled, later ones read. */
export const compiled = async (): Promise<string> => join(await folder(), "../compiled")

/** Gives the path of a program. */
export const path = async (name: Name): Promise<string> => join(await folder(), `${name}.js`)
