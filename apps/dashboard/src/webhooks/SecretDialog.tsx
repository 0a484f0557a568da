/** A signing secret, which is shown once. */
import { useState } from "react"
import { Button } from "../ui/Button.tsx"
import { Secret } from "../ui/Copy.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Check } from "../ui/Field.tsx"
import { Time } from "../ui/Time.tsx"

export const SecretDialog = (
  { onClose, previousExpiresAt, secret }: {
    readonly secret: string
    /** Until when the secret before signs beside it. */
    readonly previousExpiresAt?: string
    readonly onClose: () => void
  }
) => {
  const [isStored, setStored] = useState(false)
  return (
    <Dialog title="Store the signing secret now" isOpen isDismissible={false} onClose={onClose}>
      <div className="space-y-4">
        <p>
          Your receiver verifies deliveries with it. It is not shown again; if it is lost, rotate it.
          {previousExpiresAt === undefined
            ? null
            : (
              <>
                {" "}The secret before also signs, and ends <Time at={previousExpiresAt} />.
              </>
            )}
        </p>
        <Secret label="Signing secret" value={secret} />
        <Check checked={isStored} onChange={setStored}>I have stored it</Check>
        <div className="flex justify-end">
          <Button
            look="primary"
            onClick={onClose}
            refusal={isStored ? undefined : "Store the secret, then tick the box: it is not shown again."}
          >
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
