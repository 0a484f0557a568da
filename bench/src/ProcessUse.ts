/**
 * Reads memory and processor time of processes from Linux's `/proc`; undefined on other systems.
 */
import { readdir, readFile } from "node:fs/promises"

const read = (file: string): Promise<string> => readFile(file, "utf8").catch(() => "")

const memoryOf = (field: "VmRSS" | "VmHWM") => async (pid: number): Promise<number | undefined> => {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(await read(`/proc/${pid}/status`))
  return found === null ? undefined : Number(found[1]) * 1024
}

/** The resident memory of a process, in bytes. */
export const memory = memoryOf("VmRSS")

/** The peak resident memory of a process, in bytes. */
export const peakMemory = memoryOf("VmHWM")

/** The processor time of a process, in seconds. */
export const processorTime = async (pid: number): Promise<number | undefined> => (await stat(pid))?.own

/** The processor time of a process and all its descendants, running or exited, in seconds. */
export const familyTime = async (pid: number): Promise<number | undefined> => {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number)
  const all = new Map(await Promise.all(pids.map(async (pid) => [pid, await stat(pid)] as const)))
  const belongs = (process: number | undefined): boolean =>
    process === pid || process !== undefined && process > 1 && belongs(all.get(process)?.parent)
  const own = all.get(pid)
  return own &&
    pids.filter(belongs).reduce((sum, pid) => sum + (all.get(pid)?.own ?? 0) + (all.get(pid)?.ended ?? 0), 0)
}

/** The processor time in seconds that the whole machine has used, and could have used, since it booted. */
export const machineTime = async (): Promise<{ readonly spent: number; readonly had: number } | undefined> => {
  const fields = /^cpu +(.*)$/m.exec(await read("/proc/stat"))?.[1]?.split(" ").map((field) => Number(field) / 100)
  if (fields === undefined) return undefined
  // user, nice, system, idle, iowait, irq, softirq, steal
  const [user, nice, system, idle, waiting, ...interrupts] = fields.slice(0, 8) as [
    number,
    number,
    number,
    number,
    number
  ]
  const spent = user + nice + system + interrupts.reduce((sum: number, time: number) => sum + time, 0)
  return { spent, had: spent + idle + waiting }
}

/** The fields of `/proc/<pid>/stat`; its times are in hundredths of a second. */
const stat = async (pid: number) => {
  const fields = (await read(`/proc/${pid}/stat`)).split(") ").at(-1)!.split(" ").map(Number)
  return fields.length < 15 ? undefined : {
    parent: fields[1]!,
    own: (fields[11]! + fields[12]!) / 100,
    ended: (fields[13]! + fields[14]!) / 100
  }
}
