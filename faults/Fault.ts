import type { Stage } from "./Stage.ts"

/** How an installation is set up for a fault. */
export interface Setting {
  /** Whether the receiver is behind TLS. */
  readonly isReceiverSecure?: boolean
  /** Whether notifications have a connection of their own. */
  readonly listensApart?: boolean
  /** Whether the clocks of the processes can be moved, by Debian's `faketime`. */
  readonly areClocksMovable?: boolean
  /** What is on a small disk that can be full. */
  readonly onDisk?: "database" | "log"
}

/** What can happen to an installation. */
export interface Fault {
  /** Its name, for `--only` and the table. */
  readonly name: string
  /** What happens, for the table. */
  readonly about: string
  /** Programs that it needs besides the install; it is left out without them. */
  readonly programs?: ReadonlyArray<string | readonly [program: string, ...args: ReadonlyArray<string>]>
  readonly setting?: Setting
  /** Begins it. The inner function ends it. */
  readonly begin: (stage: Stage) => Promise<() => Promise<void> | void>
}
