import { signal } from '@preact/signals'
import { go, path } from '../page/router.ts'

/** The open pack. A reload of the page closes it. */
export const openedPack = signal<File | null>(null)

export function openPack(file: File): void {
  openedPack.value = file
  if (path.value !== '/pack') go('/pack')
}

/** Whether a file is a tar, as packs are. */
export const isTar = async (file: Blob): Promise<boolean> => (await file.slice(257, 262).text()) === 'ustar'
