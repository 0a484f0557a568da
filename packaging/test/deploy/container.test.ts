/**
 * The container file: linted, and its steps carried out without a container engine. The first stage runs as a script by
 * a user who is not root, in a clean copy of the repository; in the short form, what `npm ci` installs is linked, in
 * the long form (`npm run long -- container`) npm installs it. The last stage runs the same way and, where this is
 * root, with
 * `chroot` in a file system of its own, from which the server is started as a container is: by its user, read only but
 * for its volume. Not tried, since no engine and no registry of images is here: the base images themselves, so Alpine's
 * Node on musl instead of this machine's, layers and their cache, and what an engine does with `HEALTHCHECK` and
 * `STOPSIGNAL`.
 */
import * as Clone from "@wac/testbed/Clone"
import * as Extent from "@wac/testbed/Extent"
import * as FreePort from "@wac/testbed/FreePort"
import { isOpen } from "@wac/testbed/OpenDirectory"
import * as Program from "@wac/testbed/Program"
import { DockerfileParser } from "dockerfile-ast"
import { validate } from "dockerfile-utils"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { afterAll, assert, beforeAll, describe, it, onTestFinished } from "vitest"
import * as ImageRelease from "../../ImageRelease.ts"
import { root } from "../../Published.ts"
import * as Surroundings from "../Surroundings.ts"
import * as Image from "./Image.ts"

const text = readFileSync(join(root, "deploy/Containerfile"), "utf8")

const steps = DockerfileParser.parse(text).getInstructions().map((instruction): Image.Step => ({
  name: instruction.getInstruction(),
  args: instruction.getTextContent().replace(/^\w+ /, "")
}))
const firstStage = steps.findIndex(({ name }) => name === "FROM")

/** The steps of each stage; the first of a stage is FROM. */
const stages: ReadonlyArray<ReadonlyArray<Image.Step>> = steps.slice(firstStage)
  .reduce<Array<Array<Image.Step>>>(
    (stages, step) => step.name === "FROM" ? [...stages, [step]] : [...stages.slice(0, -1), [...stages.at(-1)!, step]],
    []
  )
const [build, final] = stages as readonly [ReadonlyArray<Image.Step>, ReadonlyArray<Image.Step>]
const argsOf = (name: string): ReadonlyArray<string> =>
  final.filter((step) => step.name === name).map(({ args }) => args)

const nobody = 65_534
/** What is installed is linked, and another user can reach it only in a clone that is not closed. */
const isNobody = process.getuid?.() === 0 && isOpen(root)
const as = isNobody ? { uid: nobody, gid: nobody } : {}
const own = (path: string): void => {
  if (isNobody) lchownSync(path, nobody, nobody)
}

/** What the build's context is, in a directory of the user's. */
const copyContext = (to: string): void => {
  mkdirSync(to)
  const rules = [...readFileSync(join(root, ".dockerignore"), "utf8").matchAll(/^(!?)([a-z].*)$/gm)]
  const isIgnored = (file: string): boolean =>
    rules.findLast(([, , path]) => file === path || file.startsWith(`${path}/`))?.[1] === ""
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root })
    .toString().split("\0")
  for (const file of files) {
    if (file === "" || isIgnored(file) || !existsSync(join(root, file))) continue
    cpSync(join(root, file), join(to, file), { recursive: true })
  }
}

/** What `npm ci` installs, by links; our own packages are those of the copy. */
const linkInstalled = (to: string): void => {
  const { packages }: { readonly packages: Record<string, { readonly link?: boolean; readonly resolved?: string }> } =
    JSON.parse(readFileSync(join(to, "package-lock.json"), "utf8"))
  for (const [place, { link = false, resolved }] of Object.entries(packages)) {
    if (place.lastIndexOf("node_modules/") < 0 || !existsSync(join(root, place)) || existsSync(join(to, place))) {
      continue
    }
    // a nested package comes with the one that it is in, but for those of our own folders
    if (place.startsWith("node_modules/") && place.lastIndexOf("node_modules/") > 0) continue
    mkdirSync(dirname(join(to, place)), { recursive: true })
    symlinkSync(link ? join(to, resolved!) : join(root, place), join(to, place), "dir")
  }
}

/** A PATH with the Node of this process, which the user may run, and nothing of this repository. */
const pathIn = (directory: string): string => {
  const bin = join(directory, "bin")
  mkdirSync(bin)
  copyFileSync(process.execPath, join(bin, "node"))
  return [bin, ...process.env["PATH"]!.split(delimiter).filter((place) => !place.includes("node_modules"))]
    .join(delimiter)
}

/** Waits until a server listens; returns what waits for its end. It ends with the test at the latest. */
const listening = async (child: ChildProcess) => {
  const ended = once(child, "close")
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL")
  })
  let output = ""
  await new Promise<void>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      output += chunk.toString()
      if (output.includes("listening on ")) resolve()
    }
    child.stdout!.on("data", take)
    child.stderr!.on("data", take)
    void ended.then(() => reject(new Error(output)))
  })
  // in a function, since a promise of a promise is awaited whole
  return () => ended
}

const chrootNeeded = Program.needed({
  programs: [["unshare", "--mount", "chroot", "/", "true"], ["ldd", "--version"]],
  untested: "the file system of the image, in chroot",
  install: "Linux, as root, with util-linux and coreutils"
})

describe("the container file", () => {
  it("the linter finds nothing in the container file", () => {
    assert.deepEqual(validate(text).map(({ message, range }) => `${range.start.line + 1}: ${message}`), [])
  })

  it("the last stage builds nothing, runs without root, and has a health check", () => {
    assert.strictEqual(stages.length, 2)
    const bases = new Map(steps.slice(0, firstStage).map(({ args }) => args.split("=") as [string, string]))
    assert.deepEqual([...ImageRelease.basesOf(text)], [...bases])
    for (const [from] of stages) {
      const [, argument] = /^(?:--platform=\$BUILDPLATFORM )?\$\{(\w+)\} AS \w+$/.exec(from!.args)!
      assert.match(bases.get(argument!)!, /^node:24-[a-z-]+$/)
    }
    assert.strictEqual(bases.size, stages.length)
    assert.notMatch(argsOf("RUN").join(), /npm|apk|apt/)
    assert.deepEqual(argsOf("USER"), ["node"])
    assert.match(argsOf("HEALTHCHECK")[0]!, /\/healthz/)
    assert.match(argsOf("ENTRYPOINT")[0]!, /^\["node", /)
  })

  const installs = Extent.of([false], [false, true])

  describe.each(installs)("built (by npm: %j)", Clone.needed, (isByNpm) => {
    let directory: string
    let src: string
    let PATH: string

    const sh = (command: string, cwd: string, env: NodeJS.ProcessEnv = {}): string =>
      execFileSync("sh", ["-euc", command], {
        cwd,
        env: {
          PATH,
          HOME: join(directory, "home"),
          TMPDIR: join(directory, "tmp"),
          npm_config_loglevel: "error",
          ...env
        },
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
        ...as
      })

    const placed = (command: string): string =>
      command.replaceAll("/app", join(directory, "app")).replaceAll("/data", join(directory, "data"))
        .replaceAll("/src", src)

    beforeAll(() => {
      directory = mkdtempSync(join(tmpdir(), "wac-container-"))
      chmodSync(directory, 0o755)
      src = join(directory, "src")
      PATH = pathIn(directory)
      copyContext(src)
      if (!isByNpm) linkInstalled(src)
      for (const place of ["app", "home", "tmp"]) {
        mkdirSync(join(directory, place))
        own(join(directory, place))
      }
      own(src)
      if (isNobody) { for (const name of readdirSync(src, { recursive: true, encoding: "utf8" })) own(join(src, name)) }
      for (const { args, name } of build) {
        if (name === "RUN" && (isByNpm || !args.startsWith("npm ci"))) sh(placed(args), src)
      }
    })
    afterAll(() => rmSync(directory, { recursive: true, force: true }))

    it(`its steps, by ${isNobody ? "a user who is not root" : "the tests' user"}, make a server that is healthy`, async () => {
      const app = join(directory, "app")
      const env = Object.fromEntries(
        argsOf("ENV").flatMap((args) => args.split(" ").map((pair) => placed(pair).split("=") as [string, string]))
      )
      const [copied] = argsOf("COPY")
      const [, from] = /^--from=build \/src\/(\S+) \.$/.exec(copied!)!
      cpSync(join(src, from!), app, { recursive: true })
      if (isNobody) {
        for (const name of readdirSync(app, { recursive: true, encoding: "utf8" })) own(join(app, name))
        mkdirSync(join(directory, "data"))
        chownSync(join(directory, "data"), nobody, nobody)
      }
      // only root can give files to another user; here they are the user's already
      for (const args of argsOf("RUN")) sh(placed(args).replace(/ && chown .*$/, ""), app, env)
      assert.isNotEmpty(readdirSync(join(app, "compiled")), "the code is compiled")
      assert.notProperty(JSON.parse(readFileSync(join(app, "package.json"), "utf8")), "devDependencies")
      assert.deepEqual(readdirSync(join(app, "node_modules")), ["@electric-sql"])
      // from here on, the file system is read only
      sh("chmod -R a-w .", app)
      onTestFinished(() => void sh("chmod -R u+w .", app))

      const port = await FreePort.find()
      const running = { PATH, ...env, HOST: "127.0.0.1", PORT: `${port}` }
      const [program, ...args] = [...JSON.parse(placed(argsOf("ENTRYPOINT")[0]!)), ...JSON.parse(argsOf("CMD")[0]!)]
      const cwd = placed(argsOf("WORKDIR").at(-1)!)
      const child = spawn(program, args, { cwd, env: running, stdio: ["ignore", "pipe", "pipe"], ...as })
      const ended = await listening(child)
      const [healthProgram, ...health] = JSON.parse(/CMD (\[.*\])$/.exec(argsOf("HEALTHCHECK")[0]!)![1]!)
      execFileSync(healthProgram, health, { env: running, ...as })
      child.kill("SIGTERM")
      assert.deepEqual(await ended(), [0, null])
      assert.throws(() => execFileSync(healthProgram, health, { env: running, stdio: "ignore", ...as }))
    })

    it(
      "its last stage makes a file system, and in it a server that runs read only as its user",
      chrootNeeded,
      async () => {
        const image = Image.make(join(directory, "image"), final, directory)
        assert.strictEqual(image.user, "node")
        const variables = { HOST: "127.0.0.1", PORT: `${await FreePort.find()}` }
        const container = async (more: Readonly<Record<string, string>> = {}) => {
          const child = Image.start(image, { ...variables, ...more })
          return { child, ended: await listening(child) }
        }

        const first = await container()
        Image.checkHealth(image, variables)
        // in the volume, which another container finds again
        const data = join(image.root, "data/.data")
        assert.deepEqual([statSync(data).uid, statSync(data).mode & 0o077], [1000, 0])
        assert.strictEqual(readFileSync(`/proc/${first.child.pid}/status`, "utf8").match(/^Uid:\t(\d+)/m)![1], "1000")
        first.child.kill(argsOf("STOPSIGNAL")[0] as NodeJS.Signals)
        assert.deepEqual(await first.ended(), [0, null])
        assert.throws(() => Image.checkHealth(image, variables))

        // secrets as Compose and Kubernetes mount them
        const secrets = join(image.root, "run/secrets")
        mkdirSync(secrets)
        writeFileSync(join(secrets, "master_key"), `${randomBytes(32).toString("base64")}\n`, { mode: 0o444 })
        writeFileSync(join(secrets, "database_url"), "memory:\n", { mode: 0o444 })
        const collector = await Surroundings.collect()
        onTestFinished(collector.close)
        const second = await container({
          WAC_MASTER_KEY_FILE: "/run/secrets/master_key",
          DATABASE_URL_FILE: "/run/secrets/database_url",
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.url
        })
        Image.checkHealth(image, variables)
        second.child.kill("SIGTERM")
        assert.deepEqual(await second.ended(), [0, null])
        assert.isNotEmpty(collector.posts, "what is collected is exported at the latest when the server stops")
      }
    )
  })
})
