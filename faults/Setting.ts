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
