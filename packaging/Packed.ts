/**
 * The files that would be published: built, and packed as npm packs them.
 */
import { execFileSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { folders, packedFolder, root, server } from "./Published.ts"

/** Builds every package that is published, and the dashboard's pages. */
export const build = (): void => {
  const run = (...args: ReadonlyArray<string>) => execFileSync(process.execPath, args, { cwd: root, stdio: "inherit" })
  run(join(root, "node_modules/typescript/bin/tsc"), "-b")
  run(join(root, "packaging/commonjs.ts"))
  run(join(root, "packaging/vendored.ts"))
  run(join(root, "apps/dashboard/build.ts"))
  run(join(root, "packages/wac/build.ts"))
  run(join(root, "apps/server/build.ts"))
}

const npmPack = (to: string, ...what: ReadonlyArray<string>): void => {
  execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", to, ...what], {
    cwd: root,
    // what npm has to say of it goes nowhere
    stdio: ["ignore", "ignore", "pipe"]
  })
}

/** Packs every package, which must be built, into a folder. */
export const pack = (to: string): void => {
  npmPack(to, ...[...folders.values(), server.folder].map(packedFolder))
}

/** Packs one built package, such as an earlier server, into a folder. */
export const packFolder = (to: string, folder: string): void => npmPack(to, folder)

/** Packs packages of others into a folder, as they are installed here, so that no registry is asked for them. */
export const packInstalled = (to: string, names: ReadonlyArray<string>): void =>
  npmPack(to, ...names.map((name) => join(root, "node_modules", name)))

/** The packed file of a package. */
export const tarballOf = (packed: string, name: string): string => {
  const prefix = `${name.replace("@", "").replace("/", "-")}-`
  const file = readdirSync(packed).find((file) => file.startsWith(prefix) && /^[0-9]/.test(file.slice(prefix.length)))
  if (file === undefined) throw new Error(`${name} was not packed`)
  return join(packed, file)
}
