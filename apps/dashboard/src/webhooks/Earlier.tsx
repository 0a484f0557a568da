/** The link to the delivery that another delivery waits for, which is of an earlier event of the same message. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { Delivery } from "@wac/client/internal"
import { messageIdOf } from "../events/EventWords.ts"
import { portal } from "../session/Document.ts"
import { api } from "../session/Service.ts"
import { t } from "../ui/Language.ts"
import { lifeQuery } from "./Life.ts"
import { earlierOf } from "./RoundWords.ts"

const Linked = ({ delivery, messageId }: { readonly delivery: Delivery; readonly messageId: string }) => {
  const life = useQuery(lifeQuery(messageId))
  const earlier = earlierOf(delivery, (life.data ?? []).flatMap(({ delivery }) => delivery ?? []))
  return earlier === undefined
    ? t("After an earlier event")
    : (
      <>
        After{" "}
        <Link to="/deliveries/$id" params={{ id: earlier.id }} className="text-accent underline">
          {earlier.eventType}
        </Link>
      </>
    )
}

export const Earlier = ({ delivery }: { readonly delivery: Delivery }) => {
  const event = useQuery({
    queryKey: ["event", delivery.eventId],
    queryFn: ({ signal }) => api.events.get(delivery.eventId, { signal }),
    // the portal cannot read events
    enabled: portal === undefined
  })
  const messageId = event.data === undefined ? undefined : messageIdOf(event.data)
  return messageId === undefined ? t("After an earlier event") : <Linked delivery={delivery} messageId={messageId} />
}
