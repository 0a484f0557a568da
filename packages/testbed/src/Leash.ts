/**
 * Ends programs and deletes their files once this process is gone, even if it was killed and no teardown ran.
 *
 * A shell waits for the end of a pipe that only this process holds. Nothing listens to this process's own exit, so that
 * its status stays what the test runner made it.
 */
import { spawn } from "node:child_process"

/** The processes that must not outlive this one. */
export interface Leashed {
  /** Processes, which get SIGKILL. */
  readonly pids?: ReadonlyArray<number>
  /** PostgreSQL's files with the pid of a server in their first line. The servers get SIGQUIT and are waited for. */
  readonly pidFiles?: ReadonlyArray<string>
  readonly directory?: string
}

const script = `
read -r _
kill -KILL $PIDS 2>/dev/null
for file in "$@"; do
  [ -f "$file" ] || continue
  read -r pid < "$file"
  kill -QUIT "$pid" 2>/dev/null
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
done
[ -z "$DIRECTORY" ] || rm -rf "$DIRECTORY"
`

/** Returns a function that lets the programs and the directory outlive this process again. */
export const leash = ({ directory = "", pidFiles = [], pids = [] }: Leashed): () => void => {
  const shell = spawn("sh", ["-c", script, "sh", ...pidFiles], {
    // a Ctrl+C on the terminal, which ends this process, must not end the shell before its work is done
    detached: true,
    env: { PATH: process.env["PATH"], PIDS: pids.join(" "), DIRECTORY: directory },
    stdio: ["pipe", "ignore", "ignore"]
  })
  shell.unref()
  // a pipe is a socket in Node, although its type is more general
  const pipe = shell.stdin as unknown as { readonly unref: () => void }
  pipe.unref()
  return () => {
    shell.kill("SIGKILL")
  }
}
