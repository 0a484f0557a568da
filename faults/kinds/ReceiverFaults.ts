/**
 * A receiver that answers badly or not at all.
 */
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import type { Fault } from "../Fault.ts"
import type { Manner } from "../Receiver.ts"

const answers = (manner: Manner, about: string): Fault => ({
  name: `receiver-${manner}`,
  about,
  begin: ({ receiver }) => {
    receiver.answer(manner)
    return Promise.resolve(() => receiver.answer("well"))
  }
})

/** A certificate that nobody trusts. */
const untrusted = async () => {
  const directory = await mkdtemp(join(tmpdir(), "wac-untrusted-"))
  const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")]
  try {
    const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    await promisify(execFile)("openssl", [...made, ...subject, "-keyout", key, "-out", cert])
    return { key: await readFile(key), cert: await readFile(cert) }
  } finally {
    await rm(directory, { recursive: true })
  }
}

const badCertificate: Fault = {
  name: "receiver-certificate",
  about: "The receiver shows a certificate that nobody trusts",
  programs: ["openssl"],
  setting: { isReceiverSecure: true },
  begin: async ({ certificates, receiver }) => {
    receiver.certify(await untrusted())
    return () => receiver.certify(certificates!)
  }
}

/** The faults of the receiver. */
export const all: ReadonlyArray<Fault> = [
  answers("hangs", "The receiver reads events and never answers"),
  answers("drips", "The receiver sends its answer byte by byte, without an end"),
  answers("resets", "The receiver breaks connections"),
  answers("floods", "The receiver answers 200 with an endless body"),
  badCertificate
]
