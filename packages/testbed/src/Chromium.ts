/**
 * Finds and starts a headless Chromium, for tests and benchmarks. On Linux with x64 it comes from the npm package
 * `@sparticuz/chromium`, elsewhere from the machine. The package's has no window, so it needs a quarter of the
 * processor time to load a page.
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

/** The path of the machine's own Chromium or Chrome. Throws if there is none. */
const ofMachine = (): string => {
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

/** The browser's executable, and what it needs to run. */
export interface Executable {
  readonly executablePath: string
  /** Environment variables that it needs besides the process's own. */
  readonly env: Readonly<Record<string, string>>
}

/** The configuration of fontconfig: only the font from the package, so that a page looks the same on every machine. */
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
const unpacked = async (): Promise<Executable> => {
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
 * Returns the browser that `TEST_CHROMIUM` names; else the package's, unpacked if necessary; else the machine's. A
 * set-up calls this first, so that no test waits for the unpacking. Rejects if the package's does not run on this
 * machine and the machine has no other.
 */
export const prepare = async (): Promise<Executable> => {
  const named = process.env["TEST_CHROMIUM"]
  if (named === undefined && process.platform === "linux" && process.arch === "x64") return unpacked()
  return { executablePath: named ?? ofMachine(), env: {} }
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
