import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** A screen in a file of its own, which the browser loads when it first shows the screen. */
export function later(load: () => Promise<ComponentType>): ComponentType {
  let Screen: ComponentType | null = null
  return () => {
    const [state, setState] = useState<'loading' | 'loaded' | 'failed'>('loading')
    useEffect(() => {
      if (Screen !== null) return
      load().then(
        (loaded) => {
          Screen = loaded
          setState('loaded')
        },
        () => setState('failed'),
      )
    }, [])
    if (Screen !== null) return <Screen />
    if (state === 'failed')
      return (
        <p class="fault">This screen cannot be loaded; look whether "keepup serve" is running, and reload the page</p>
      )
    return <p class="quiet">loading …</p>
  }
}
