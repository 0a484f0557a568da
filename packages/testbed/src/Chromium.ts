/**
 * A headless Chromium: the one from the install, which has no window and so needs a fourth of the processor time of the
 * machine's to load a page; on systems that it does not run on, the machine's.
 */
import { execFile } from "node:child_process"
import { accessSync, constants, existsSync, readFileSync } from "node:fs"
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { delimiter, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { type Browser, chromium } from "playwright-core"

// Vitest, which loads this for a set-up, has no `import.meta.resolve`
const require = createRequire(import.meta.url)

/** The names of Chromium and of Chrome, which is built from it. */
const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The program of the machine. Throws if it has none. */
const installed = (): string => {
  const path = [
    ...names.flatMap((name) => (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, name))),
    // where macOS has it
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
  ].find(isExecutable)
  if (path !== undefined) return path
  throw new Error(
    `the Chromium from the install runs on Linux with x64, not on ${process.platform} with ${process.arch}: install ` +
      "Chromium or Chrome, or put the path of one into TEST_CHROMIUM"
  )
}

/** How it is started. */
export interface Program {
  readonly executablePath: string
  /** The variables that it needs in the environment. */
  readonly env: Readonly<Record<string, string>>
}

/** Has the font of the package found in our folder, and no others, so that a page looks the same on every machine. */
const fonts = (folder: string): string =>
  `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>
`

/**
 * Unpacks the package's Chromium beside the installed packages, unless that was done before. It comes with the
 * libraries and the font that it needs. Processes that unpack at the same time do not disturb each other: a folder gets
 * its name when it is complete.
 */
const unpacked = async (): Promise<Program> => {
  const module = pathToFileURL(require.resolve("@sparticuz/chromium"))
  const { version }: { readonly version: string } = JSON.parse(
    readFileSync(new URL("../package.json", module), "utf8")
  )
  const cache = fileURLToPath(new URL("../../../node_modules/.cache/wac", import.meta.url))
  const folder = join(cache, `chromium-${version}`)
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true })
    const own = await mkdtemp(`${folder}-`)
    try {
      const unpack = `import(${JSON.stringify(module.href)}).then((_) => _.default.executablePath())`
      // the package unpacks into the temporary directory of its process, and its libraries only for hosts of this kind
      const env = { TMPDIR: own, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x" }
      await promisify(execFile)(process.execPath, ["--eval", unpack], { env })
      await writeFile(join(own, "fonts/fonts.conf"), fonts(folder))
      await rename(own, folder).catch((error: NodeJS.ErrnoException) => {
        // another process was first
        if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error
      })
    } finally {
      await rm(own, { recursive: true, force: true })
    }
  }
  return {
    executablePath: join(folder, "chromium"),
    env: { LD_LIBRARY_PATH: join(folder, "al2023/lib"), FONTCONFIG_PATH: join(folder, "fonts") }
  }
}

/**
 * Finds the browser that `TEST_CHROMIUM` names, else unpacks the package's, else finds the machine's: so that no test
 * waits for it, a set-up does this before. Rejects if the package's does not run on the machine, which has no other.
 */
export const prepare = async (): Promise<Program> => {
  const named = process.env["TEST_CHROMIUM"]
  if (named === undefined && process.platform === "linux" && process.arch === "x64") return unpacked()
  return { executablePath: named ?? installed(), env: {} }
}

/** Starts the browser. Rejects as {@link prepare} does. */
export const launch = async (...args: ReadonlyArray<string>): Promise<Browser> => {
  const { env, executablePath } = await prepare()
  return chromium.launch({
    executablePath,
    // its sandbox needs a user who is not root, and rights that containers do not give
    args: ["--no-sandbox", ...args],
    env: { ...process.env, ...env }
  })
}
