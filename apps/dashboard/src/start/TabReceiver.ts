/** A receiver in this tab: the service's events come by its stream, signed, and are verified as a server would. */
import type { StreamDelivery, StreamReceiver } from "@wac/client/internal"
import { receive } from "@wac/verifier"
import { useEffect, useState } from "react"
import { root } from "../session/Document.ts"

/** An event that came, and what its verification found. */
export interface Arrival extends StreamDelivery {
  readonly isVerified: boolean
  /** The event's type; what is wrong with it, if it is not verified. */
  readonly words: string
}

/** How many of the newest are kept. */
const kept = 10

/** Receives while it is on; `secret` is there once the service sends. Newest first. */
export const useTabReceiver = (isOn: boolean) => {
  const [secret, setSecret] = useState<string>()
  const [arrivals, setArrivals] = useState<ReadonlyArray<Arrival>>([])
  useEffect(() => {
    if (!isOn) return
    const source = new EventSource(`${root}internal/stream?receive=events`)
    let present = ""
    source.addEventListener("receiver", ({ data }: MessageEvent<string>) => {
      present = (JSON.parse(data) as StreamReceiver).signingSecret
      setSecret(present)
    })
    source.addEventListener("delivery", ({ data }: MessageEvent<string>) => {
      const delivery = JSON.parse(data) as StreamDelivery
      void receive(delivery.body, delivery.headers, present).then((receipt) => {
        const arrival = {
          ...delivery,
          isVerified: receipt.ok,
          words: receipt.ok ? receipt.event.type : receipt.message
        }
        setArrivals((before) => [arrival, ...before].slice(0, kept))
      })
    })
    source.addEventListener("error", () => setSecret(undefined))
    return () => {
      source.close()
      setSecret(undefined)
    }
  }, [isOn])
  return { secret, arrivals }
}
