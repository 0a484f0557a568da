/** Revoking a key, after a question. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { api } from "../session/Service.ts"
import { Confirm } from "../ui/Dialog.tsx"
import { rich, t } from "../ui/Language.ts"
import { Time } from "../ui/Time.tsx"

export const RevokeKey = (
  { apiKey, onClose }: {
    readonly apiKey: { readonly id: string; readonly name: string; readonly lastUsedAt: string | null }
    readonly onClose: () => void
  }
) => {
  const client = useQueryClient()
  const revoke = useMutation({
    mutationFn: () => api.apiKeys.revoke(apiKey.id),
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries()
  })
  return (
    <Confirm
      title={t("Revoke “{name}”?", { name: apiKey.name })}
      action={t("Revoke key")}
      isOpen
      isPending={revoke.isPending}
      error={revoke.error}
      onClose={onClose}
      onConfirm={() => revoke.mutate()}
    >
      {t("Every request with this key is refused within 2 seconds. This cannot be undone.")} {apiKey.lastUsedAt === null
        ? t("It was never used.")
        : rich("It was last used {time}.", { time: <Time at={apiKey.lastUsedAt} /> })}
    </Confirm>
  )
}
