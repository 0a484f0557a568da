/**
 * A receiver in this browser tab: it gets signed events from the service's stream, and verifies them as a server would.
 */
import type { StreamDelivery, StreamReceiver } from "@wac/client/internal"
import { receive } from "@wac/verifier"
import { useEffect, useState } from "react"
import { root } from "../session/Document.ts"
import * as EventStream from "../session/EventStream.ts"

/** A received event, and the result of its verification. */
export interface Arrival extends StreamDelivery {
  readonly isVerified: boolean
  /** The event's type, or why it could not be verified. */
  readonly words: string
}

/** How many arrivals are kept; older ones are dropped. */
const mostKept = 10

/** Receives while `isOn`. Returns the signing secret, once the service has sent it, and the arrivals, newest first. */
export const useTabReceiver = (isOn: boolean) => {
  const [secret, setSecret] = useState<string>()
  const [arrivals, setArrivals] = useState<ReadonlyArray<Arrival>>([])
  useEffect(() => {
    if (!isOn) return
    const close = EventStream.open(`${root}internal/stream?receive=events`, (source) => {
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
          setArrivals((before) => [arrival, ...before].slice(0, mostKept))
        })
      })
      source.addEventListener("error", () => setSecret(undefined))
    })
    return () => {
      close()
      setSecret(undefined)
    }
  }, [isOn])
  return { secret, arrivals }
}
