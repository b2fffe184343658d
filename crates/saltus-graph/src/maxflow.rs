//! Maximum flow on small integer-capacity networks.

/// A flow network: nodes `0 .. n`, directed edges with integer capacities.
///
/// Dinic, *Algorithm for solution of a problem of maximum flow in networks with power
/// estimation*, Soviet Math. Dokl. 11 (1970). O(V² E), O(E √V) on unit networks.
#[derive(Clone, Debug, Default)]
pub struct MaxFlow {
    n: usize,
    /// Edge `e` is arc `2e` (forward) and `2e + 1` (backward); `to` and `room` per arc.
    to: Vec<u32>,
    room: Vec<i64>,
    first: Vec<Vec<u32>>,
}

impl MaxFlow {
    /// A network of `n` nodes without edges.
    pub fn new(n: usize) -> Self {
        MaxFlow { n, to: Vec::new(), room: Vec::new(), first: vec![Vec::new(); n] }
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.n
    }

    /// Number of edges.
    pub fn n_edges(&self) -> usize {
        self.to.len() / 2
    }

    /// Adds the edge `u → v`; returns its index (0, 1, 2, … in order of addition).
    ///
    /// A negative capacity counts as 0, an endpoint out of range makes an edge that never
    /// carries flow.
    pub fn add_edge(&mut self, u: u32, v: u32, cap: i64) -> usize {
        let e = self.to.len();
        self.to.extend([v, u]);
        if (u as usize) < self.n && (v as usize) < self.n {
            self.room.extend([cap.max(0), 0]);
            self.first[u as usize].push(e as u32);
            self.first[v as usize].push(e as u32 + 1);
        } else {
            self.room.extend([0, 0]);
        }
        e / 2
    }

    /// Increases the flow from `s` to `t` as far as possible; returns the increase (from the zero
    /// flow: the value of a maximum flow, `= capacity of a minimum cut`). 0 if `s = t`.
    pub fn run(&mut self, s: u32, t: u32) -> i64 {
        let (s, t) = (s as usize, t as usize);
        if s == t || s >= self.n || t >= self.n {
            return 0;
        }
        let mut total = 0i64;
        let mut level = vec![u32::MAX; self.n];
        let mut ptr = vec![0usize; self.n];
        let mut queue = Vec::new();
        let mut path: Vec<u32> = Vec::new();
        loop {
            level.fill(u32::MAX);
            level[s] = 0;
            queue.clear();
            queue.push(s);
            let mut head = 0;
            while head < queue.len() && level[t] == u32::MAX {
                let u = queue[head];
                head += 1;
                for &a in &self.first[u] {
                    let v = self.to[a as usize] as usize;
                    if self.room[a as usize] > 0 && level[v] == u32::MAX {
                        level[v] = level[u] + 1;
                        queue.push(v);
                    }
                }
            }
            if level[t] == u32::MAX {
                return total;
            }
            // Blocking flow, depth first with an explicit path of arcs.
            ptr.fill(0);
            path.clear();
            let mut u = s;
            loop {
                if u == t {
                    let push = path.iter().map(|&a| self.room[a as usize]).min().unwrap_or(0);
                    total = total.saturating_add(push);
                    let mut cut = path.len();
                    for (k, &a) in path.iter().enumerate() {
                        self.room[a as usize] -= push;
                        self.room[a as usize ^ 1] += push;
                        if self.room[a as usize] == 0 && cut == path.len() {
                            cut = k;
                        }
                    }
                    path.truncate(cut);
                    u = path.last().map_or(s, |&a| self.to[a as usize] as usize);
                    continue;
                }
                let mut step = None;
                while ptr[u] < self.first[u].len() {
                    let a = self.first[u][ptr[u]] as usize;
                    let v = self.to[a] as usize;
                    if self.room[a] > 0 && level[v] == level[u] + 1 && (level[v] < level[t] || v == t) {
                        step = Some((a, v));
                        break;
                    }
                    ptr[u] += 1;
                }
                match step {
                    Some((a, v)) => {
                        path.push(a as u32);
                        u = v;
                    }
                    None => match path.pop() {
                        Some(a) => {
                            u = self.to[a as usize ^ 1] as usize;
                            ptr[u] += 1;
                        }
                        None => break,
                    },
                }
            }
        }
    }

    /// The flow on edge `e`, between 0 and its capacity; 0 out of range.
    pub fn flow(&self, e: usize) -> i64 {
        self.room.get(2 * e + 1).copied().unwrap_or(0)
    }

    /// The capacity of edge `e`; 0 out of range.
    pub fn capacity(&self, e: usize) -> i64 {
        self.flow(e) + self.room.get(2 * e).copied().unwrap_or(0)
    }

    /// `side[v]`: whether `v` is reachable from `s` along arcs with room left. After
    /// [`run`](Self::run) this is the source side of the minimum cut with the fewest nodes;
    /// every edge leaving it is saturated.
    pub fn min_cut_side(&self, s: u32) -> Vec<bool> {
        let mut side = vec![false; self.n];
        let mut stack = Vec::new();
        if (s as usize) < self.n {
            side[s as usize] = true;
            stack.push(s as usize);
        }
        while let Some(u) = stack.pop() {
            for &a in &self.first[u] {
                let v = self.to[a as usize] as usize;
                if self.room[a as usize] > 0 && !side[v] {
                    side[v] = true;
                    stack.push(v);
                }
            }
        }
        side
    }
}
