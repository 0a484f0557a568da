/**
 * A small disk that can be full: a file system in memory, which only root can mount.
 */
import { execFile } from "node:child_process"
import { closeSync, openSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import * as Daemon from "./Daemon.ts"

/** Whether disks can be mounted here: tried where nobody else sees it. */
export const check = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"] as const

/** Mounts one of so many megabytes, which everybody may write. */
export const mount = async (megabytes: number) => {
  const directory = await Daemon.directory("wac-disk-")
  await promisify(execFile)("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=1777`, "tmpfs", directory])
  const ballast = join(directory, "ballast")
  return {
    directory,
    /** Takes all of the room that is left. */
    fill: () => {
      const file = openSync(ballast, "a")
      const page = Buffer.alloc(4096, "x")
      try {
        while (writeSync(file, page) > 0);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error
      } finally {
        closeSync(file)
      }
    },
    /** Gives it back. */
    free: () => rmSync(ballast),
    close: async () => {
      // lazily, so that a program that still ends does not keep it
      await promisify(execFile)("umount", ["--lazy", directory])
      rmSync(directory, { recursive: true })
    }
  }
}
