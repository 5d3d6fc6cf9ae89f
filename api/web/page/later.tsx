import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** A screen that the browser loads when it first shows it. */
export function later<P extends object = object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let Screen: ComponentType<P> | null = null
  return (props) => {
    const [state, setState] = useState<'loading' | 'loaded' | 'failed'>('loading')
    useEffect(() => {
      if (Screen !== null) return
      load().then(
        (loaded) => {
          Screen = loaded
          setState('loaded')
        },
        (error: unknown) => {
          console.error(error)
          setState('failed')
        },
      )
    }, [])
    if (Screen !== null) return <Screen {...props} />
    if (state === 'failed')
      return (
        <p class="fault">This screen cannot be loaded; look whether "keepup serve" is running, and reload the page</p>
      )
    return <p class="quiet">loading …</p>
  }
}
