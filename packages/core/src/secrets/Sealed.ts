/**
 * A secret encrypted with AES-256-GCM: the master key's id, a nonce used once, and the ciphertext with its tag
 * (contract §5).
 */
export interface Sealed {
  readonly keyId: string
  readonly nonce: Uint8Array
  readonly ciphertext: Uint8Array
}
