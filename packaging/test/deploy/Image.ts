/**
 * The file system that a stage of a container file makes, by hand: each of its instructions is carried out in a
 * directory with `chroot`, as the users and at the paths that the file names. The base image is what the stage needs of
 * this machine: its Node, a shell and a few programs, with their libraries.
 */
import { searchPath } from "@wac/testbed/Program"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { chmodSync, copyFileSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

/** An instruction, and what follows it. */
export interface Step {
  readonly name: string
  readonly args: string
}

/** An image: its file system, and how a container begins. */
export interface Image {
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  readonly workingDirectory: string
  readonly user: string
  readonly volumes: ReadonlyArray<string>
  readonly entrypoint: ReadonlyArray<string>
  readonly command: ReadonlyArray<string>
  readonly health: ReadonlyArray<string>
}

/** The user `node` of Node's images. */
const users = { root: 0, node: 1000 } as const
const idOf = (user: string): number => {
  if (user !== "root" && user !== "node") throw new Error(`the base image has no user ${user}`)
  return users[user]
}

/** The programs of the base image that the stage's commands use. */
const programs = ["sh", "mkdir", "chown"]

const copyProgram = (root: string, from: string, to: string): void => {
  const place = (path: string): string => {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    return join(root, path)
  }
  copyFileSync(realpathSync(from), place(to))
  chmodSync(join(root, to), 0o755)
  const libraries = [...execFileSync("ldd", [from], { encoding: "utf8" }).matchAll(/(\/\S+) \(0x/g)]
  for (const [, library] of libraries) {
    if (!existsSync(join(root, library!))) copyFileSync(realpathSync(library!), place(library!))
  }
}

/** What the first instruction of a stage, `FROM`, brings. */
const base = (root: string): void => {
  for (const folder of ["tmp", "proc", "dev", "etc", "run", "usr/bin", "home/node"]) {
    mkdirSync(join(root, folder), { recursive: true })
  }
  chmodSync(join(root, "tmp"), 0o1777)
  symlinkSync("usr/bin", join(root, "bin"))
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n")
  writeFileSync(join(root, "etc/group"), "root:x:0:\nnode:x:1000:\n")
  copyProgram(root, process.execPath, "/usr/local/bin/node")
  for (const program of programs) {
    copyProgram(
      root,
      execFileSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" }).trim(),
      `/usr/bin/${program}`
    )
  }
}

// for a container's programs, and for `chroot`, which is this machine's
const path = `/usr/local/bin:/usr/bin:${searchPath}`

const chroot = (root: string, user: string): ReadonlyArray<string> => [
  "chroot",
  `--userspec=${idOf(user)}:${idOf(user)}`,
  `--groups=${idOf(user)}`,
  root
]

/** Runs a program in an image's file system, which it may change. */
const run = ({ env, root, user, workingDirectory }: Image, words: ReadonlyArray<string>): string => {
  const [program, ...args] = [...chroot(root, user), "/bin/sh", "-euc", "cd \"$0\" && exec \"$@\"", workingDirectory]
  return execFileSync(program!, [...args, ...words], { env: { PATH: path, ...env }, encoding: "utf8" })
}

/** Carries out a stage's instructions; what it copies from another stage is in `from`, below the same paths. */
export const make = (root: string, steps: ReadonlyArray<Step>, from: string): Image => {
  base(root)
  const begun: Image = {
    root,
    env: {},
    workingDirectory: "/",
    user: "root",
    volumes: [],
    entrypoint: [],
    command: [],
    health: []
  }
  return steps.reduce((image, { args, name }): Image => {
    switch (name) {
      case "FROM":
      case "EXPOSE":
      case "STOPSIGNAL":
        return image
      case "ENV":
        return {
          ...image,
          env: { ...image.env, ...Object.fromEntries(args.split(" ").map((pair) => pair.split("="))) }
        }
      case "WORKDIR":
        mkdirSync(join(root, args), { recursive: true })
        return { ...image, workingDirectory: args }
      case "COPY": {
        const [, source, target] = /^--from=\w+ (\S+) (\S+)$/.exec(args)!
        const to = join(root, resolve(image.workingDirectory, target!))
        // a package that the test has linked is one that npm installs
        execFileSync("cp", ["-RL", `${join(from, source!)}/.`, to])
        return image
      }
      case "RUN":
        run(image, ["/bin/sh", "-c", args])
        return image
      case "USER":
        return { ...image, user: args }
      case "VOLUME":
        return { ...image, volumes: [...image.volumes, args] }
      case "ENTRYPOINT":
        return { ...image, entrypoint: JSON.parse(args) }
      case "CMD":
        return { ...image, command: JSON.parse(args) }
      case "HEALTHCHECK":
        return { ...image, health: JSON.parse(/CMD (\[.*\])$/.exec(args)![1]!) }
      default:
        throw new Error(`there is no ${name} here`)
    }
  }, begun)
}

/**
 * Starts a container in name spaces of its own for mounts: its file system is read only, but for its volumes and
 * `/tmp`. Its network is this machine's.
 */
export const start = (
  { command, entrypoint, env, root, user, volumes, workingDirectory }: Image,
  variables: Readonly<Record<string, string>>
): ChildProcess => {
  const mounts = [
    `mount --bind "${root}" "${root}"`,
    ...volumes.map((volume) => `mount --bind "${root}${volume}" "${root}${volume}"`),
    `mount -o remount,bind,ro "${root}"`,
    `mount -t tmpfs tmpfs "${root}/tmp"`,
    `mount -t proc proc "${root}/proc"`
  ]
  const begin = [...chroot(root, user), "/bin/sh", "-euc", "cd \"$0\" && exec \"$@\"", workingDirectory, ...entrypoint]
  return spawn("unshare", ["--mount", "sh", "-euc", `${mounts.join("; ")}; exec "$@"`, "sh", ...begin, ...command], {
    env: { PATH: path, ...env, ...variables },
    stdio: ["ignore", "pipe", "pipe"]
  })
}

/** Runs the health check of an image beside a container; throws if it fails. */
export const checkHealth = (image: Image, variables: Readonly<Record<string, string>>): void =>
  void run({ ...image, env: { ...image.env, ...variables } }, image.health)
