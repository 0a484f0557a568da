/**
 * A log that cannot be written.
 */
import * as Disk from "@wac/testbed/Disk"
import type { Fault } from "../Fault.ts"

const full: Fault = {
  name: "log-full",
  about: "The disk with the log is full",
  programs: [[...Disk.check]],
  setting: { onDisk: "log" },
  begin: ({ disk }) => {
    disk!.fill()
    return Promise.resolve(disk!.free)
  }
}

/** The faults of the log. */
export const all: ReadonlyArray<Fault> = [full]
