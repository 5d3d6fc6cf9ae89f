import packWorker from '../pack/pack-worker.ts?worker&url'
import feedWorker from './feed-worker.ts?sharedworker&url'

export { feedWorker, packWorker }

interface Policies {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}

const { trustedTypes } = globalThis as { trustedTypes?: Policies }
// A page can create a policy only once.
const policy = trustedTypes?.createPolicy('keepup-worker', {
  createScriptURL: (url) => (url === feedWorker || url === packWorker ? url : ''),
})

/** The address of a worker for the page's Trusted Types policy, which allows only the page's own workers. */
export const trusted = (url: string): string => policy?.createScriptURL(url) ?? url
