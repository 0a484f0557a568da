/**
 * The user that runs PostgreSQL's programs if the tests run as root: those programs refuse to run as root.
 */
import { readFileSync } from "node:fs"

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** The user of Debian's PostgreSQL packages; else the user without rights that every system has. */
const names = ["postgres", "nobody"]

/**
 * The user for those programs; undefined if tests do not run as root, because every program then runs as their user.
 */
export const owner = (): Owner | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync("/etc/passwd", "utf8").split("\n").map((line) => line.split(":"))
  for (const name of names) {
    const user = users.find(([first]) => first === name)
    if (user !== undefined) return { uid: Number(user[2]), gid: Number(user[3]) }
  }
  throw new Error(`PostgreSQL cannot run as root, and /etc/passwd has no user ${names.join(" and no user ")}`)
}
