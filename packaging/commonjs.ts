/**
 * `node packaging/commonjs.ts`, after `tsc -b`: compiles the packages that `require` can load, those whose `exports`
 * have that condition, to CommonJS: `.cjs` with `.d.cts` in `dist/cjs`.
 */
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { folders, isRequirable, manifestOf, root } from "./Published.ts"

const options = ["--module", "CommonJS", "--moduleResolution", "bundler", "--verbatimModuleSyntax", "false"]
// in declarations, maps would lead to sources that are modules
const alone = [
  "--composite",
  "false",
  "--incremental",
  "false",
  "--tsBuildInfoFile",
  "null",
  "--declarationMap",
  "false"
]

/** In a package of modules, only these endings are CommonJS. */
const renamed = (name: string): string => name.replace(/\.d\.ts$/, ".d.cts").replace(/\.js(?=$|\.map$)/, ".cjs")

/** What a compiled file says of the others: TypeScript names the modules in code, and the sources in declarations. */
const rewritten = (text: string): string =>
  text.replaceAll(/(\b(?:require|import)\(|\bfrom )"(\.[^"]+)\.[jt]s"/g, "$1\"$2.cjs\"")
    .replace(/(\/\/# sourceMappingURL=\S+)\.js\.map/, "$1.cjs.map")
    .replace(/^(\{"version":3,"file":"[^"]+)\.js"/, "$1.cjs\"")

for (const folder of folders.values()) {
  if (!isRequirable(manifestOf(folder))) continue
  const to = join(folder, "dist/cjs")
  rmSync(to, { recursive: true, force: true })
  const args = [join(root, "node_modules/typescript/bin/tsc"), "-p", folder, ...options, ...alone, "--outDir", to]
  execFileSync(process.execPath, args, { cwd: root, stdio: "inherit" })
  const files = readdirSync(to, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const { name, parentPath } of files) {
    const path = join(parentPath, name)
    const text = rewritten(readFileSync(path, "utf8"))
    rmSync(path)
    writeFileSync(join(parentPath, renamed(name)), text)
  }
}
