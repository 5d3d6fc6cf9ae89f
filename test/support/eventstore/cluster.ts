import { StandIn } from './stand-in.ts'
import { Store } from './store.ts'
import type { Member } from './switches.ts'

/** Three nodes over one store, with one leader. The test controls elections with {@link elect}. */
export class StandInCluster {
  readonly store = new Store()
  readonly nodes: readonly StandIn[] = [0, 1, 2].map(() => new StandIn(this.store, () => this.#members()))
  /** Null: no quorum exists. */
  leader: number | null = 0

  async start(): Promise<this> {
    await Promise.all(this.nodes.map((node) => node.start()))
    return this
  }

  get url(): string {
    return `esdb://${this.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}?tls=false`
  }

  #members(): readonly Member[] {
    return this.nodes.map(({ port, alive }, index) => {
      const state = this.leader === null ? 'unknown' : index === this.leader ? 'leader' : 'follower'
      return { port, state, alive }
    })
  }

  /** Makes a node the leader. */
  elect(index: number): void {
    this.leader = index
    for (const node of this.nodes) node.switches.notReady = false
  }

  /** Removes the leader, so no write succeeds. */
  losesQuorum(): void {
    this.leader = null
    for (const node of this.nodes) node.switches.notReady = true
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()))
  }
}
