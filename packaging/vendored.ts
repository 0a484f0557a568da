/**
 * `node packaging/vendored.ts`, after `tsc -b`: puts libraries of others into the packages that use them, each with what
 * it needs, as a module in `dist`. They are those that a manifest's `imports` names for the condition `source`.
 *
 * CommonJS asks for Node's modules by `require`, which a module that a host's bundler makes of it lacks. Here it is
 * given them by Node itself, which works in every format.
 */
import { build, type Metafile } from "esbuild"
import { join } from "node:path"
import * as Notices from "./Notices.ts"
import { folders, manifestOf, root, vendoredIn } from "./Published.ts"

interface Vendored {
  readonly folder: string
  readonly library: string
  /** Where the package has it. */
  readonly file: string
}

const vendored: ReadonlyArray<Vendored> = [...folders.values()].flatMap((folder) =>
  vendoredIn(manifestOf(folder)).map(({ file, library }) => ({ folder, library, file: join(folder, file) }))
)

const options = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node22",
  legalComments: "none",
  metafile: true,
  logLevel: "warning"
} as const

/** The licences of what is in a bundle, in a comment. */
const noticesOf = (metafile: Metafile): string =>
  `/*\n${Notices.of(Notices.foldersOf(metafile)).join("\n\n").replaceAll("*/", "* /")}\n*/\n`

for (const { file, folder, library } of vendored) {
  const names = Object.keys(await import(import.meta.resolve(library)))
    .filter((name) => name !== "default" && name !== "module.exports")
  const stdin = { contents: `export { ${names.join(", ")} } from "${library}"`, resolveDir: folder }
  const { metafile } = await build({ ...options, stdin, write: false })
  await build({
    ...options,
    stdin,
    outfile: file,
    minifySyntax: true,
    minifyWhitespace: true,
    banner: { js: `${noticesOf(metafile)}import { getBuiltinModule as require } from "node:process";` }
  })
}
