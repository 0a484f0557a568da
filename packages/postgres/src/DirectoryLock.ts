/**
 * Lets one process at a time use a directory. Node has no lock that the system releases when a process dies, so the
 * lock is a file that names its holder, and a process that finds one checks whether the holder is alive.
 */
import { Clock, Effect, Option, Predicate, Schedule, Schema, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import * as os from "node:os"
import { dirname } from "node:path"
import { describe, problemOf } from "./DataDirectory.ts"
import { OpenError } from "./OpenError.ts"

/** Process ids are comparable within one `space`: a machine since its boot, and within it a container. */
const Holder = Schema.Struct({
  pid: Schema.Int,
  startedAt: Schema.String,
  space: Schema.String,
  /** The device and inode of the locked directory, by which a copy of the directory is recognized. */
  directory: Schema.optionalKey(Schema.String)
})
type Holder = typeof Holder.Type

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Holder))

/**
 * How often a holder renews its file, and how long a holder is presumed alive without renewal if its process cannot be
 * examined: it is in another space, or may be another process with the same id (milliseconds).
 */
const heartbeat = 3000
const believed = 15_000

/**
 * Holds the lock file until the scope closes. Fails if another process, or another part of this one, holds it. The
 * message is a predicate of the locked thing: "is in use by process 1, …".
 */
export const hold = (path: string): Effect.Effect<void, OpenError, Scope.Scope> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    yield* Effect.acquireRelease(
      Effect.tap(
        Effect.try({
          try: () => take(path, now),
          catch: (error) =>
            error instanceof OpenError
              ? error
              : new OpenError({ message: `cannot be locked: ${describe(error)}`, problem: problemOf(error) })
        }),
        (isCopy) => isCopy ? Effect.logWarning(copied(path)) : Effect.void
      ),
      () => Effect.sync(() => fs.rmSync(path, { force: true }))
    )
    const beat = Effect.map(Clock.currentTimeMillis, (now) => fs.utimesSync(path, now / 1000, now / 1000))
    yield* beat.pipe(Effect.ignoreCause, Effect.repeat(Schedule.spaced(heartbeat)), Effect.forkScoped)
  })

const copied = (path: string): string =>
  `${path} was copied along with the database in its directory, while a process used the original. The copy may be ` +
  "incomplete: stop the server before you copy its data, or use a backup"

/**
 * Takes the lock. Returns whether the lock file that it found was copied with the directory, while its holder still
 * runs in the original.
 */
const take = (path: string, now: number): boolean => {
  const mine: Holder = {
    pid: process.pid,
    startedAt: startOf(process.pid),
    space: space(),
    directory: directoryOf(path)
  }
  if (write(path, mine)) return false
  if (isHeld(path, mine, now)) throw inUse(path)
  // renamed first, so that what is checked can no longer change
  const left = `${path}.${randomBytes(6).toString("hex")}`
  fs.renameSync(path, left)
  if (isHeld(left, mine, now)) {
    fs.renameSync(left, path)
    throw inUse(path)
  }
  const holder = read(left)
  const isCopy = holder !== undefined && isOfCopy(holder, mine) && isRunning(holder, isRenewed(left, now))
  fs.rmSync(left, { force: true })
  if (!write(path, mine)) throw inUse(path)
  return isCopy
}

/** Devices and inodes are comparable within one space, as process ids are. */
const directoryOf = (file: string): string => {
  const { dev, ino } = fs.statSync(dirname(file), { bigint: true })
  return `${dev}:${ino}`
}

/** Whether the holder locked another directory, of which this one is a copy. */
const isOfCopy = (holder: Holder, mine: Holder): boolean =>
  holder.space === mine.space && holder.directory !== undefined && holder.directory !== mine.directory

const write = (path: string, holder: Holder): boolean => {
  let file: number
  try {
    file = fs.openSync(path, "wx", 0o600)
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false
    throw error
  }
  try {
    fs.writeFileSync(file, JSON.stringify(holder))
    return true
  } catch (error) {
    // the disk is full: an empty file would look like a lock to the next process
    fs.rmSync(path, { force: true })
    throw error
  } finally {
    fs.closeSync(file)
  }
}

const read = (path: string): Holder | undefined => Option.getOrUndefined(decode(textOf(path)))

const isHeld = (path: string, mine: Holder, now: number): boolean => {
  const holder = read(path)
  const renewed = isRenewed(path, now)
  return holder?.space === mine.space ? !isOfCopy(holder, mine) && isRunning(holder, renewed) : renewed
}

const isRenewed = (path: string, now: number): boolean =>
  now - (fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < believed

/**
 * Whether the holder runs. A process that has its id, but belongs to another user or does not show when it started, may
 * be another one, such as a daemon after a reboot: it counts if the lock file was renewed lately.
 */
const isRunning = ({ pid, startedAt }: Holder, renewed: boolean): boolean => {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return hasCode(error, "EPERM") && renewed
  }
  const start = startOf(pid)
  return start === "" ? renewed : start === startedAt && !hasEnded(pid)
}

/**
 * The fields of `/proc/<pid>/stat` after the process's name (proc(5), from the third field on); empty on other systems
 * than Linux.
 */
const statusOf = (pid: number): ReadonlyArray<string> => {
  const status = textOf(`/proc/${pid}/stat`)
  return status.slice(status.lastIndexOf(")") + 2).split(" ")
}

/** When a process started, in the system's format. Its id may have been reused since. */
const startOf = (pid: number): string => statusOf(pid)[19] ?? ""

/**
 * Whether a process has ended although its id is still in use, since its parent has not collected its status (a
 * zombie). Its other threads may end later.
 */
const hasEnded = (pid: number): boolean => {
  const status = statusOf(pid)
  return status[0] === "Z" && Number(status[17]) <= 1
}

const space = (): string => {
  try {
    return `${textOf("/proc/sys/kernel/random/boot_id").trim()} ${fs.readlinkSync("/proc/self/ns/pid")}`
  } catch {
    return os.hostname()
  }
}

const textOf = (path: string): string => {
  try {
    return fs.readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

const hasCode = (error: unknown, code: string): boolean => Predicate.hasProperty(error, "code") && error.code === code

const inUse = (path: string): OpenError => {
  const holder = read(path)
  return new OpenError({
    message: `is in use${holder ? ` by process ${holder.pid}` : ""}, as ${path} says`,
    isInUse: true
  })
}
