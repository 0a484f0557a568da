/**
 * A small disk that a test can fill up: a file system in memory, which only root can mount.
 */
import { execFile } from "node:child_process"
import { closeSync, openSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import * as Daemon from "./Daemon.ts"

/** A command that succeeds if disks can be mounted here. It tries a mount that no other process sees. */
export const check = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"] as const

/** Mounts a disk of so many megabytes, to which every user may write. */
export const mount = async (megabytes: number) => {
  const directory = await Daemon.directory("wac-disk-")
  await promisify(execFile)("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=1777`, "tmpfs", directory])
  const ballast = join(directory, "ballast")
  return {
    directory,
    /** Fills the disk. */
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
    /** Frees the space that `fill` took. */
    free: () => rmSync(ballast),
    close: async () => {
      // lazily, so that a program that is still ending does not prevent the unmount
      await promisify(execFile)("umount", ["--lazy", directory])
      rmSync(directory, { recursive: true })
    }
  }
}
