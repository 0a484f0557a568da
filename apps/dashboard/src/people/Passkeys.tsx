/** The list of a person's passkeys, which can be added and removed. */
import { useMutation } from "@tanstack/react-query"
import type { Passkey } from "@wac/client/internal"
import { useState } from "react"
import * as MaxLength from "../generated/MaxLength.ts"
import * as Browser from "../session/Passkey.ts"
import { api } from "../session/Service.ts"
import { Button } from "../ui/Button.tsx"
import { Confirm, Dialog } from "../ui/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere, TextField } from "../ui/Field.tsx"
import { actions, Table } from "../ui/Table.tsx"
import { Time, TimeOr } from "../ui/Time.tsx"

/** What a part that makes recovery codes calls. */
export interface GetsCodes {
  /** Called with the new recovery codes, which are none unless the second factor was off. */
  readonly onCodes: (codes: ReadonlyArray<string>) => void
  /** Called if the request that makes them has failed. */
  readonly onFailed: (error: unknown) => void
}

const AddDialog = ({ onCodes, onClose, onFailed }: GetsCodes & { readonly onClose: () => void }) => {
  const [name, setName] = useState("")
  const add = useMutation({
    mutationFn: async () => {
      const credential = await Browser.make(await api.account.startPasskey())
      return api.account.addPasskey({ name, credential }).catch((error: unknown) => {
        onFailed(error)
        throw error
      })
    },
    onSuccess: ({ recoveryCodes }) => onCodes(recoveryCodes)
  })
  return (
    <Dialog title="Add a passkey" isDismissible={!add.isPending} onClose={onClose} width="max-w-md">
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!add.isPending) add.mutate()
        }}
      >
        <TextField
          label="Name"
          hint="How you recognize it, such as the device that it is on."
          error={add.error}
          param="name"
          required
          maxLength={MaxLength.addPasskeyName}
          value={name}
          onChange={setName}
        />
        <Failure error={elsewhere(add.error, "name")} />
        <div className="flex justify-end">
          <Button look="primary" type="submit" isPending={add.isPending}>Continue</Button>
        </div>
      </form>
    </Dialog>
  )
}

const Add = ({ onCodes, onFailed }: GetsCodes) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>Add a passkey…</Button>
      {isOpen ?
        (
          <AddDialog
            onClose={() => setOpen(false)}
            onCodes={(codes) => {
              setOpen(false)
              onCodes(codes)
            }}
            onFailed={onFailed}
          />
        ) :
        null}
    </>
  )
}

const Remove = ({ isLast, passkey }: {
  readonly passkey: Passkey
  /** Whether the passkey is the only second factor, so that its removal switches the second factor off. */
  readonly isLast: boolean
}) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button small aria-label={`Remove ${passkey.name}`} onClick={() => setOpen(true)}>Remove…</Button>
      {isOpen ?
        (
          <Confirm
            title={`Remove the passkey ${passkey.name}?`}
            action="Remove"
            act={() => api.account.removePasskey(passkey.id)}
            onClose={() => setOpen(false)}
          >
            {isLast
              ? "Then your password alone is enough to sign in, and your recovery codes are no longer valid."
              : "Then it is not accepted any more. The device may still list it, until you delete it there."}
          </Confirm>
        ) :
        null}
    </>
  )
}

/** The list. `hasApp` is whether the person also has an authenticator app. */
export const Passkeys = ({ hasApp, onCodes, onFailed, passkeys }: GetsCodes & {
  readonly passkeys: ReadonlyArray<Passkey>
  readonly hasApp: boolean
}) => (
  <>
    {passkeys.length === 0 ? null : (
      <Table
        label="Your passkeys"
        items={passkeys}
        columns={[
          { name: "Passkey", className: "font-medium break-words", cell: ({ name }) => name },
          { name: "Added", from: "sm", className: "text-muted", cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            name: "Last used",
            className: "text-muted",
            cell: ({ lastUsedAt }) => <TimeOr at={lastUsedAt} none="Never" />
          },
          actions((passkey: Passkey) => <Remove passkey={passkey} isLast={!hasApp && passkeys.length === 1} />)
        ]}
      />
    )}
    {Browser.hasPasskeys ? <Add onCodes={onCodes} onFailed={onFailed} /> : null}
  </>
)
