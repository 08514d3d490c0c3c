/**
 * Every statement on a session's row, in one place: what makes them safe is that they all lock that row and that each
 * names what it expects there (docs/adr/0022-postgres-store.md). `now()` is the server's clock; no clock of a node
 * counts anywhere.
 */

import type { Statement } from "./lane.ts";
import { quoted } from "./migrate.ts";

export type Statements = ReturnType<typeof statementsFor>;

/** How long another node waits before it takes over a turn again: after the first takeover, and after the second. */
const BACKOFF = "case s.takeovers when 0 then interval '10 s' else interval '60 s' end";

/** A node lives while its lease runs, judged by the database, and only in the incarnation in which it began. */
export const ALIVE = "coalesce(n.lease_until > clock_timestamp() and n.incarnation = st.incarnation, false)";

/**
 * Inside a turn the time of a session changes once a second at most. It is part of an index, and an update that changes
 * no index costs the server two thirds of one that does.
 */
const RECENTLY = "clock_timestamp() - interval '1 s'";

/** All three make an append safe: no other writer acquired the session, and nothing was written behind its end. */
const guard = (fence: string, holder: string, seq: string): string =>
  `s.fence = ${fence} and s.holder = ${holder} and s.next_seq = ${seq}`;

/** The expressions for what an append brings. */
interface Appended {
  readonly n: string;
  readonly bytes: string;
  readonly openTurn: string;
  readonly asked: string;
  readonly summary: string;
  readonly incarnation: string;
}

const OF_ARRAYS: Appended = {
  n: "a.n",
  bytes: "a.bytes",
  openTurn: "a.open_turn",
  asked: "a.asked",
  summary: "a.summary",
  incarnation: "$12::uuid",
};

const OF_ONE: Appended = {
  n: "$5::int",
  bytes: "$6::bigint",
  openTurn: "$7::text",
  asked: "$8::bigint",
  summary: "$9::text",
  incarnation: "$11::uuid",
};

/**
 * Tells a log from another one under the same id: the session was removed and made again, or the database was restored,
 * and then the end that a reader has seen may be missing and have been written anew.
 */
const BORN = "x.created_at::text || ' ' || st.incarnation::text";

export function statementsFor(schema: string) {
  const s = quoted(schema);
  /**
   * Nothing is left to do in the inbox: its writer has seen everything that was asked, and nothing of it is left. Both
   * are needed. A row that was seen may not be carried out yet; and the snapshot that shows no row may be older than the
   * admission, which the number in the locked row is not.
   */
  const settled = (seen: string): string =>
    `s.asked = ${seen} and not exists (select 1 from ${s}.inbox i where i.tenant = s.tenant and i.session = s.id)`;
  // The limit tells the planner that there is one row. A table that small is never analysed, so the planner assumes a
  // thousand, and compiles a plan for them that takes ten times as long as what it has to do.
  const store = `(select * from ${s}.store limit 1) st`;
  const appended = ({ n, bytes, openTurn, asked, summary, incarnation }: Appended): string =>
    `next_seq = s.next_seq + ${n}, bytes = s.bytes + ${bytes}, made = true,
                     modified_at = case when ${n} = 0 and s.made then s.modified_at
                                        when s.open_turn = ${openTurn} and s.modified_at > ${RECENTLY} then s.modified_at
                                        else clock_timestamp() end,
                     incarnation = case when s.open_turn = ${openTurn} then s.incarnation else ${incarnation} end,
                     open_turn = ${openTurn},
                     wake_at = case when ${openTurn} is null and ${settled(asked)} then null
                                    else coalesce(s.wake_at, now()) end,
                     takeovers = case when ${openTurn} is null then 0 else s.takeovers end,
                     summary = coalesce(${summary}, s.summary)`;
  const named = (name: string, text: string): Statement => ({ name: `tl_${schema}_${name}`, text });
  return {
    /** The identity of the store, and of the server it is on now. */
    identity: named(
      "identity",
      `select version, oldest_reader, oldest_writer, incarnation::text as incarnation,
              system_id::text as system_id, timeline::text as timeline from ${s}.store`,
    ),
    reincarnate: named(
      "reincarnate",
      `update ${s}.store set incarnation = $2, system_id = $3, timeline = $4, changed_at = now()
        where incarnation = $1 returning 1`,
    ),
    settle: named(
      "settle",
      `update ${s}.store set system_id = $1, timeline = $2 where system_id is null returning 1`,
    ),

    /** Repeated after a lost answer, it finds its own row. Nothing was acquired under this id yet. */
    addNode: named(
      "add_node",
      `insert into ${s}.nodes (id, name, url, pool, program, models, incarnation, lease_until)
       select $1, $2, $3, $4, $5, $6, st.incarnation, clock_timestamp() + $7 * interval '1 ms' from ${s}.store st
       on conflict (id) do update set lease_until = excluded.lease_until
       returning incarnation::text as incarnation`,
    ),
    /** An expired lease is never renewed: another node may already have acted on its end. */
    renew: named(
      "renew",
      `with st as (select * from ${s}.store),
            u as (update ${s}.nodes set lease_until = clock_timestamp() + $2 * interval '1 ms', draining = $3, models = $4
                   where id = $1 and lease_until > clock_timestamp()
                     and incarnation = (select incarnation from st) returning 1)
       select (select count(*) from u)::int as renewed, st.oldest_writer, st.version, st.incarnation::text as incarnation,
              st.system_id::text as system_id, st.timeline::text as timeline from st`,
    ),
    dropNode: named("drop_node", `delete from ${s}.nodes where id = $1`),
    /** Rows of nodes that ended long ago and hold nothing. */
    forgetNodes: named(
      "forget_nodes",
      `delete from ${s}.nodes n where n.lease_until < clock_timestamp() - interval '1 hour'
          and not exists (select 1 from ${s}.sessions x where x.holder = n.id)`,
    ),

    look: named(
      "look",
      `select x.made, x.next_seq::text as next_seq, x.bytes::text as bytes, x.fence::text as fence,
              x.holder::text as holder, x.asked::text as asked, x.open_turn, x.takeovers, x.pool,
              ${BORN} as born,
              x.incarnation is null or x.incarnation = st.incarnation as same,
              ${ALIVE} as alive, n.name as holder_name, n.pool as holder_pool,
              x.wake_at is not null and x.pool is not null as wakes
         from ${s}.sessions x cross join ${store} left join ${s}.nodes n on n.id = x.holder
        where x.tenant = $1 and x.id = $2`,
    ),
    /** A row without events reserves the id for its writer. It becomes a session with the first append. */
    reserve: named(
      "reserve",
      `insert into ${s}.sessions (tenant, id) values ($1, $2) on conflict do nothing`,
    ),
    /** Compare-and-swap on what was looked at. No row: another node was faster. */
    acquire: named(
      "acquire",
      `update ${s}.sessions s set fence = s.fence + 1, holder = $4, pool = coalesce(s.pool, $6),
              takeovers = case when $5 then s.takeovers + 1 else s.takeovers end,
              wake_at = case when $5 then clock_timestamp() + ${BACKOFF} else s.wake_at end
        where s.tenant = $1 and s.id = $2 and s.fence = $3
          and exists (select 1 from ${s}.nodes n, ${store}
                       where n.id = $4 and n.lease_until > clock_timestamp() and n.incarnation = st.incarnation)
       returning s.fence::text as fence, s.next_seq::text as next_seq, s.bytes::text as bytes, s.asked::text as asked,
                 s.open_turn, s.takeovers, (select s.created_at::text || ' ' || st.incarnation::text from ${store}) as born,
                 exists (select 1 from ${s}.inbox i where i.tenant = s.tenant and i.session = s.id) as has_inbox`,
    ),
    /**
     * One element of the arrays per session. The rows that come back were written, whole; the others were refused. An
     * end of a turn leaves `wake_at` set if something is left in the inbox.
     *
     * The lines come as one text: none of them has an LF, and the elements of an array would have to be escaped. `i` says
     * to which session a line belongs, and `first` which line is a session's first.
     */
    append: named(
      "append",
      `with a as (select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::int[], $6::bigint[], $7::text[],
                                       $8::bigint[], $9::text[], $10::int[]) with ordinality
                     as a(tenant, id, fence, seq, n, bytes, open_turn, asked, summary, first, i)),
            g as (update ${s}.sessions s set ${appended(OF_ARRAYS)}
                    from a
                   where s.tenant = a.tenant and s.id = a.id and ${guard("a.fence", "$11::uuid", "a.seq")}
                  returning s.tenant, s.id, s.asked, a.i, a.seq - a.first as before),
            w as (insert into ${s}.events (tenant, session, seq, line)
                  select g.tenant, g.id, g.before + l.o, l.line
                    from unnest(string_to_array($13::text, e'\\n'), $14::int[]) with ordinality as l(line, i, o)
                    join g on g.i = l.i)
       select tenant, id, asked::text as asked from g`,
    ),
    /** The same for one session. The server plans it once, but plans the one above anew as long as its arrays are short. */
    appendOne: named(
      "append_one",
      `with g as (update ${s}.sessions s set ${appended(OF_ONE)}
                   where s.tenant = $1 and s.id = $2 and ${guard("$3::bigint", "$10::uuid", "$4::bigint")}
                  returning s.tenant, s.id, s.asked),
            w as (insert into ${s}.events (tenant, session, seq, line)
                  select g.tenant, g.id, $4::bigint + l.o - 1, l.line
                    from g cross join unnest(string_to_array($12::text, e'\\n')) with ordinality as l(line, o))
       select tenant, id, asked::text as asked from g`,
    ),
    /** Something left in the inbox wakes another node. So does an open turn, as `$6` says (releases.ts). */
    release: named(
      "release",
      `update ${s}.sessions s
          set holder = null,
              takeovers = case when $6 = 'later' and s.open_turn is not null then s.takeovers + 1 else s.takeovers end,
              wake_at = case when s.open_turn is null and ${settled("$5")} then null
                             when $6 = 'wake' then clock_timestamp()
                             when $6 = 'later' then clock_timestamp() + ${BACKOFF}
                             when s.open_turn is null then coalesce(s.wake_at, clock_timestamp())
                             else s.wake_at end
        where s.tenant = $1 and s.id = $2 and s.fence = $3 and s.holder = $4 and s.made
       returning s.asked::text as asked, coalesce(s.wake_at <= clock_timestamp(), false) as wakes`,
    ),
    /** Nobody goes on with the open turn until something is asked. */
    rest: named(
      "rest",
      `update ${s}.sessions s set wake_at = null
        where s.tenant = $1 and s.id = $2 and s.fence = $3 and s.holder = $4 and ${settled("$5")}`,
    ),
    unreserve: named(
      "unreserve",
      `delete from ${s}.sessions where tenant = $1 and id = $2 and fence = $3 and holder = $4 and not made returning 1`,
    ),

    lines: named(
      "lines",
      `select line from ${s}.events where tenant = $1 and session = $2 and seq >= $3 and seq < $4 order by seq limit $5`,
    ),
    /** What a reader is missing, with the state of the session in the same snapshot. */
    since: named(
      "since",
      `select x.next_seq::text as next_seq, ${BORN} as born, e.line
         from ${s}.sessions x cross join ${store} left join lateral
              (select line, seq from ${s}.events e where e.tenant = x.tenant and e.session = x.id and e.seq >= $3
                order by seq limit $4) e on true
        where x.tenant = $1 and x.id = $2 order by e.seq`,
    ),

    putBlob: named(
      "put_blob",
      `with g as (select 1 from ${s}.sessions where tenant = $1 and id = $2 and fence = $3 and holder = $4 for key share),
            i as (insert into ${s}.blobs (tenant, session, name, bytes) select $1, $2, $5, $6 from g on conflict do nothing)
       select 1 from g`,
    ),
    getBlob: named(
      "get_blob",
      `select bytes from ${s}.blobs where tenant = $1 and session = $2 and name = $3`,
    ),

    /** One row per session and flush; the delete removes what its writer has cleared. */
    flush: named(
      "flush",
      `with d as (delete from ${s}.live l using unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) as c(tenant, id, fence, n)
                   where l.tenant = c.tenant and l.session = c.id and (l.fence < c.fence or (l.fence = c.fence and l.n <= c.n)))
       insert into ${s}.live (tenant, session, fence, n, body)
       select * from unnest($5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::text[]) on conflict do nothing`,
    ),
    liveRows: named(
      "live_rows",
      `select body from ${s}.live where tenant = $1 and session = $2 order by fence, n`,
    ),
    /**
     * What is new in all followed sessions, in one snapshot: a reader that sees a row also sees the events before it, and
     * one that sees the writer gone sees all it wrote. Rows of an earlier fence are a dead writer's and are not shown.
     */
    watch: named(
      "watch",
      `with f as (select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
                    with ordinality as f(tenant, id, seq, fence, n, i)),
            h as (select f.*, x.next_seq, x.fence as now_fence, ${BORN} as born, x.open_turn is not null or x.wake_at is not null as busy,
                         ${ALIVE} as alive, x.id is not null as there
                    from f cross join ${store} left join ${s}.sessions x on x.tenant = f.tenant and x.id = f.id
                         left join ${s}.nodes n on n.id = x.holder)
       select 'h' as kind, h.i::int as i, h.next_seq::text as a, h.now_fence::text as b, h.alive as c, h.busy as d, h.born as body from h
       union all
       select 'e', h.i::int, e.seq::text, null, null, null, e.line from h cross join lateral
              (select seq, line from ${s}.events e where e.tenant = h.tenant and e.session = h.id and e.seq >= h.seq
                order by seq limit 200) e where h.next_seq > h.seq
       union all
       select 'l', h.i::int, l.n::text, l.fence::text, null, null, l.body from h cross join lateral
              (select n, fence, body from ${s}.live l where l.tenant = h.tenant and l.session = h.id and l.fence = h.now_fence
                  and l.n > case when h.now_fence > h.fence then -1 else h.n end order by n limit 200) l`,
    ),

    /** Durable when it is answered. Says who will read it; nobody: the sender acquires the session itself. */
    admit: named(
      "admit",
      `with x as (update ${s}.sessions x set asked = x.asked + 1, wake_at = least(x.wake_at, clock_timestamp()),
                         pool = coalesce(x.pool, $6)
                   where x.tenant = $1 and x.id = $2 and x.made returning x.asked, x.holder),
            i as (insert into ${s}.inbox (tenant, session, key, kind, body, n)
                  select $1, $2, $3, $4, $5, x.asked from x on conflict do nothing)
       select x.asked::text as asked, x.holder::text as holder, ${ALIVE} as alive, n.name as holder_name, n.pool as holder_pool,
              true as wakes
         from x cross join ${store} left join ${s}.nodes n on n.id = x.holder`,
    ),
    inbox: named(
      "inbox",
      `select x.asked::text as asked, i.key, i.kind, i.body, i.cancelled
         from ${s}.sessions x left join ${s}.inbox i on i.tenant = x.tenant and i.session = x.id
        where x.tenant = $1 and x.id = $2 order by i.n`,
    ),
    /**
     * Only the holder may: another node that has acquired the session may have begun the turn. The lock makes it wait for
     * an acquisition that is being committed; one that comes later finds the mark.
     */
    cancelWaiting: named(
      "cancel_waiting",
      `with g as (select 1 from ${s}.sessions where tenant = $1 and id = $2 and fence = $4 and holder = $5 for share),
            u as (update ${s}.inbox set cancelled = true
                   where tenant = $1 and session = $2 and key = $3 and exists (select 1 from g))
       select 1 from g`,
    ),
    settleInbox: named(
      "settle_inbox",
      `delete from ${s}.inbox i using ${s}.sessions s
        where i.tenant = $1 and i.session = $2 and i.key = any($3::text[])
          and s.tenant = i.tenant and s.id = i.session and s.fence = $4 and s.holder = $5 and s.next_seq >= $6`,
    ),
    withWaiting: named(
      "with_waiting",
      `select distinct session from ${s}.inbox where tenant = $1 and kind = 'send'`,
    ),
    /** Sessions held by this node to which something was admitted. */
    asked: named(
      "asked",
      `select x.tenant, x.id, x.asked::text as asked from ${s}.sessions x
        where x.holder = $1 and exists (select 1 from ${s}.inbox i where i.tenant = x.tenant and i.session = x.id)`,
    ),
    /** Open turns and unread requests whose writer is gone, in an order of each node's own. */
    orphans: named(
      "orphans",
      `select x.tenant, x.id from ${s}.sessions x cross join ${store} left join ${s}.nodes n on n.id = x.holder
        where x.wake_at <= clock_timestamp() and x.made and x.pool = $1 and not ${ALIVE}
        order by md5(x.id || $2) limit $3`,
    ),
  } as const;
}
