// A plain alpha-beta for caldera, as a rival to measure the built-in bots against: no network and no fitted weights.
//
// It is independent of the package: its rules are written from src/ludodrome/games/caldera/RULES.md (R1 to R21), and
// tests/bots/test_caldera_rival.py compares their perft counts with tests/games/caldera/perft.txt.
//
// Search: iterative deepening, principal variation search, a transposition table, captures first, killer moves and the
// history heuristic, a capture quiescence. Evaluation: material, mobility, distance of the pieces to the enemy crown,
// height of the crown.
//
//   g++ -O3 -march=native -std=c++17 -o rival caldera_rival.cpp
//   rival                                          plays by the bot protocol on its standard input and output
//   rival perft TURN_LIMIT DEPTH "POSITION"        counts games of DEPTH moves; the position as one line

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

// --- Geometry ---------------------------------------------------------------------------------------------------------

constexpr int SIDE = 7, CELLS = 49, NOWHERE = -1;
constexpr int VENT = -1, ERUPTS = 4;
enum Kind { CROWN, LANCER, SMITH };
constexpr int PIECES = 5;
constexpr Kind KIND[PIECES] = {CROWN, LANCER, LANCER, SMITH, SMITH};

static int step_to[CELLS][8];    // the cell in each of eight directions, or NOWHERE
static int beside[CELLS][4];     // the same for the four orthogonal directions
static int distance_of[CELLS][CELLS];  // steps of a crown on an empty board

static void set_up_geometry() {
    const int rows[8] = {-1, -1, -1, 0, 0, 1, 1, 1}, columns[8] = {-1, 0, 1, -1, 1, -1, 0, 1};
    const int orthogonal[4] = {1, 3, 4, 6};
    for (int cell = 0; cell < CELLS; cell++) {
        for (int d = 0; d < 8; d++) {
            int row = cell / SIDE + rows[d], column = cell % SIDE + columns[d];
            bool inside = row >= 0 && row < SIDE && column >= 0 && column < SIDE;
            step_to[cell][d] = inside ? row * SIDE + column : NOWHERE;
        }
        for (int d = 0; d < 4; d++) beside[cell][d] = step_to[cell][orthogonal[d]];
        for (int other = 0; other < CELLS; other++)
            distance_of[cell][other] =
                std::max(std::abs(cell / SIDE - other / SIDE), std::abs(cell % SIDE - other % SIDE));
    }
}

// --- Hash keys --------------------------------------------------------------------------------------------------------

static uint64_t height_key[CELLS][5], piece_key[2][3][CELLS], ply_key[32], side_key;
constexpr int LAST_PLIES = 24;  // so near the turn limit the number of moves left is part of the position

static void set_up_keys() {
    uint64_t seed = 2026;
    auto next = [&seed] {  // SplitMix64
        uint64_t x = seed += 0x9E3779B97F4A7C15u;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
        return x ^ (x >> 31);
    };
    for (auto &cell : height_key)
        for (auto &key : cell) key = next();
    for (auto &seat : piece_key)
        for (auto &kind : seat)
            for (auto &key : kind) key = next();
    for (auto &key : ply_key) key = next();
    side_key = next();
}

// --- Positions and moves ----------------------------------------------------------------------------------------------

struct Move {
    int8_t from = 0, to = 0;
    bool forge = false;
    bool operator==(const Move &other) const { return from == other.from && to == other.to && forge == other.forge; }
};

constexpr int MOST_MOVES = 8 + 2 * 16 + 2 * 12;

struct MoveList {
    std::array<Move, MOST_MOVES> moves;
    int size = 0;
    void add(int from, int to, bool forge) { moves[size++] = {int8_t(from), int8_t(to), forge}; }
    Move *begin() { return moves.data(); }
    Move *end() { return moves.data() + size; }
};

struct Position {
    int8_t height[CELLS];       // 0 to 3, or VENT
    int8_t on[CELLS];           // 0: empty; otherwise 1 + 5 * seat + place of the piece
    int8_t cell[2][PIECES];     // where the pieces are; NOWHERE if they fell
    int16_t ply = 0, turn_limit = 200;
    uint64_t hash = 0;          // without the seat to move and the ply

    int mover() const { return ply % 2; }
    int pieces(int seat) const {
        return int(std::count_if(cell[seat], cell[seat] + PIECES, [](int8_t c) { return c != NOWHERE; }));
    }
    uint64_t key() const {
        int left = turn_limit - ply;
        return hash ^ (mover() ? side_key : 0) ^ (left < LAST_PLIES ? ply_key[left] : 0);
    }
    void put(int seat, int place, int at) {
        cell[seat][place] = int8_t(at);
        on[at] = int8_t(1 + PIECES * seat + place);
        hash ^= piece_key[seat][KIND[place]][at];
    }
    void lift(int at) {  // take the piece off a cell; it may be put elsewhere
        int seat = (on[at] - 1) / PIECES, place = (on[at] - 1) % PIECES;
        hash ^= piece_key[seat][KIND[place]][at];
        cell[seat][place] = NOWHERE;
        on[at] = 0;
    }
    void set_height(int at, int value) {
        hash ^= height_key[at][height[at] + 1] ^ height_key[at][value + 1];
        height[at] = int8_t(value);
    }
    bool is_own(int at, int seat) const { return on[at] && (on[at] - 1) / PIECES == seat; }
    bool can_step(int from, int to) const {  // R7, and the ground must not be a vent (R2)
        return to != NOWHERE && height[to] != VENT && height[to] <= height[from] + 1;
    }
};

template <class Visit>
static void each_target(const Position &p, int seat, int place, Visit visit) {
    // the cells that a piece can move to (R6 to R9), own ones included
    int from = p.cell[seat][place];
    for (int d = 0; d < 8; d++) {
        int to = step_to[from][d];
        if (!p.can_step(from, to)) continue;
        visit(to);
        if (KIND[place] != LANCER) continue;
        int far = step_to[to][d];
        if (p.can_step(to, far)) visit(far);
    }
}

static void generate(const Position &p, MoveList &list, bool only_captures = false) {
    int seat = p.mover();
    list.size = 0;
    for (int place = 0; place < PIECES; place++) {
        int from = p.cell[seat][place];
        if (from == NOWHERE) continue;
        each_target(p, seat, place, [&](int to) {
            if (!p.is_own(to, seat) && (!only_captures || p.on[to])) list.add(from, to, false);
        });
        if (KIND[place] != SMITH || only_captures) continue;
        for (int to : beside[from])  // R11
            if (to != NOWHERE && p.height[to] != VENT && !p.on[to]) list.add(from, to, true);
    }
}

static void erupt(Position &p, int first) {  // R12 to R14
    std::array<int, CELLS> waiting;
    int count = 0;
    std::array<int8_t, CELLS> rises{};
    std::array<bool, CELLS> erupts{};
    erupts[first] = true;
    waiting[count++] = first;
    for (int done = 0; done < count; done++)
        for (int next : beside[waiting[done]]) {
            if (next == NOWHERE || p.height[next] == VENT || erupts[next]) continue;
            if (p.height[next] + ++rises[next] < ERUPTS) continue;
            erupts[next] = true;
            waiting[count++] = next;
        }
    for (int at = 0; at < CELLS; at++) {
        if (erupts[at]) {
            p.set_height(at, VENT);
            if (p.on[at]) p.lift(at);
        } else if (rises[at]) {
            p.set_height(at, p.height[at] + rises[at]);
        }
    }
}

static Position after(const Position &before, Move move) {
    Position p = before;
    int seat = p.mover();
    if (!move.forge) {
        int place = (p.on[move.from] - 1) % PIECES;
        p.lift(move.from);
        if (p.on[move.to]) p.lift(move.to);  // R10
        p.put(seat, place, move.to);
    } else if (p.height[move.to] + 1 < ERUPTS) {
        p.set_height(move.to, p.height[move.to] + 1);
    } else {
        erupt(p, move.to);
    }
    p.ply++;
    return p;
}

// Who has won, seen from the seat to move: 1, -1, or 0 for a draw; nothing if the game goes on. A stuck seat (R19) is
// found by those who generate moves.
struct End {
    bool over;
    int value;
};

static End end_of(const Position &p) {
    int mover = p.mover(), last = 1 - mover;
    if (p.cell[last][0] == NOWHERE) return {true, 1};    // R17: the seat that moved loses its own crown
    if (p.cell[mover][0] == NOWHERE) return {true, -1};  // R16, R17
    if (p.ply < p.turn_limit) return {false, 0};
    int more = p.pieces(mover) - p.pieces(last);  // R18
    if (!more) more = p.height[p.cell[mover][0]] - p.height[p.cell[last][0]];
    return {true, (more > 0) - (more < 0)};
}

static uint64_t perft(const Position &p, int depth) {
    if (depth == 0) return 1;
    if (end_of(p).over) return 0;
    MoveList list;
    generate(p, list);
    uint64_t total = 0;
    for (Move move : list) total += perft(after(p, move), depth - 1);
    return total;
}

// --- Evaluation -------------------------------------------------------------------------------------------------------

constexpr int WIN = 30000, SURE = 29000, INFINITE = 32000;
constexpr int MATERIAL[3] = {0, 300, 260};
constexpr int MOBILITY = 4;                     // for each cell that a piece can go to
constexpr int CLOSENESS[3] = {0, 9, 4};         // for each step nearer to the enemy crown
constexpr int CROWN_HEIGHT = 12;

static int side_value(const Position &p, int seat) {
    int value = 0, enemy_crown = p.cell[1 - seat][0];
    for (int place = 0; place < PIECES; place++) {
        int at = p.cell[seat][place];
        if (at == NOWHERE) continue;
        value += MATERIAL[KIND[place]] + CLOSENESS[KIND[place]] * (SIDE - 1 - distance_of[at][enemy_crown]);
        each_target(p, seat, place, [&](int to) { value += p.is_own(to, seat) ? 0 : MOBILITY; });
    }
    return value + CROWN_HEIGHT * p.height[p.cell[seat][0]];
}

static int evaluate(const Position &p) { return side_value(p, p.mover()) - side_value(p, 1 - p.mover()); }

static bool is_attacked(const Position &p, int at, int by) {
    for (int place = 0; place < PIECES; place++) {
        int from = p.cell[by][place];
        if (from == NOWHERE || distance_of[from][at] > (KIND[place] == LANCER ? 2 : 1)) continue;
        bool hit = false;
        each_target(p, by, place, [&](int to) { hit |= to == at; });
        if (hit) return true;
    }
    return false;
}

// --- Search -----------------------------------------------------------------------------------------------------------

struct OutOfTime {};
using Time = std::chrono::steady_clock;

constexpr int MOST_PLIES = 96, MOST_DEPTH = 60, TABLE_SIZE = 1 << 20;
enum Bound : uint8_t { NONE, EXACT, LOWER, UPPER };

struct Entry {
    uint64_t key = 0;
    int16_t value = 0;
    int8_t depth = 0;
    Bound bound = NONE;
    Move move;
};

class Search {
public:
    Search() : table(TABLE_SIZE) {}

    Move choose(const Position &root, double seconds, int most_depth = MOST_DEPTH) {
        deadline = Time::now() + std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(seconds));
        nodes = 0;
        for (auto &pair : killers) pair = {};
        for (auto &seat : history)
            for (auto &number : seat) number /= 8;
        MoveList list;
        generate(root, list);
        best = list.moves[0];
        try {
            for (depth = 1; depth <= most_depth; depth++) {
                value = visit(root, depth, -INFINITE, INFINITE, 0);
                best = found;
                if (std::abs(value) > SURE) break;
            }
        } catch (OutOfTime) {
        }
        return best;
    }

    int depth = 0, value = 0;
    uint64_t nodes = 0;

private:
    int visit(const Position &p, int depth, int alpha, int beta, int ply) {
        if (End end = end_of(p); end.over) return end.value * (WIN - ply);
        int seat = p.mover();
        if (ply && is_attacked(p, p.cell[1 - seat][0], seat)) return WIN - ply - 1;
        bool threatened = is_attacked(p, p.cell[seat][0], 1 - seat);
        if (threatened && ply < MOST_PLIES / 2) depth++;
        if (depth <= 0) return quiesce(p, alpha, beta, ply);
        if (ply >= MOST_PLIES - 1) return evaluate(p);
        if ((++nodes & 1023) == 0 && Time::now() >= deadline) throw OutOfTime{};

        Entry &entry = table[p.key() % TABLE_SIZE];
        Move first;
        bool known = entry.bound != NONE && entry.key == p.key();
        if (known) {
            first = entry.move;
            int stored = entry.value > SURE ? entry.value - ply : entry.value < -SURE ? entry.value + ply : entry.value;
            if (ply && entry.depth >= depth &&
                (entry.bound == EXACT || (entry.bound == LOWER && stored >= beta) ||
                 (entry.bound == UPPER && stored <= alpha)))
                return stored;
        }
        MoveList list;
        generate(p, list);
        if (!list.size) return -(WIN - ply);  // R19
        std::array<int, MOST_MOVES> order;
        for (int i = 0; i < list.size; i++) order[i] = rank(p, list.moves[i], known, first, ply);

        int top = -INFINITE, begun = alpha;
        Move choice = list.moves[0];
        for (int i = 0; i < list.size; i++) {
            int next = int(std::max_element(order.begin() + i, order.begin() + list.size) - order.begin());
            std::swap(order[i], order[next]);
            std::swap(list.moves[i], list.moves[next]);
            Move move = list.moves[i];
            Position child = after(p, move);
            int score;
            if (i == 0) {
                score = -visit(child, depth - 1, -beta, -alpha, ply + 1);
            } else {
                score = -visit(child, depth - 1, -alpha - 1, -alpha, ply + 1);
                if (score > alpha && score < beta) score = -visit(child, depth - 1, -beta, -alpha, ply + 1);
            }
            if (score > top) {
                top = score;
                choice = move;
                if (ply == 0) found = move;
            }
            alpha = std::max(alpha, score);
            if (alpha < beta) continue;
            if (move.forge || !p.on[move.to]) remember(move, seat, depth, ply);
            break;
        }
        int stored = top > SURE ? top + ply : top < -SURE ? top - ply : top;
        entry = {p.key(), int16_t(stored), int8_t(depth), top >= beta ? LOWER : top > begun ? EXACT : UPPER, choice};
        return top;
    }

    int quiesce(const Position &p, int alpha, int beta, int ply) {
        if (End end = end_of(p); end.over) return end.value * (WIN - ply);
        if ((++nodes & 1023) == 0 && Time::now() >= deadline) throw OutOfTime{};
        int seat = p.mover();
        if (is_attacked(p, p.cell[1 - seat][0], seat)) return WIN - ply - 1;
        int top = evaluate(p);
        if (top >= beta || ply >= MOST_PLIES - 1) return top;
        alpha = std::max(alpha, top);
        MoveList list;
        generate(p, list, true);
        std::sort(list.begin(), list.end(), [&](Move a, Move b) { return capture_rank(p, a) > capture_rank(p, b); });
        for (Move move : list) {
            int score = -quiesce(after(p, move), -beta, -alpha, ply + 1);
            top = std::max(top, score);
            alpha = std::max(alpha, score);
            if (alpha >= beta) break;
        }
        return top;
    }

    static int capture_rank(const Position &p, Move move) {  // the most valuable victim by the least valuable attacker
        Kind victim = KIND[(p.on[move.to] - 1) % PIECES], attacker = KIND[(p.on[move.from] - 1) % PIECES];
        return 10 * MATERIAL[victim] - (attacker == CROWN ? 500 : MATERIAL[attacker]);
    }

    int rank(const Position &p, Move move, bool known, Move first, int ply) const {
        if (known && move == first) return 1 << 30;
        if (!move.forge && p.on[move.to]) return (1 << 28) + capture_rank(p, move);
        if (move == killers[ply][0]) return (1 << 27) + 1;
        if (move == killers[ply][1]) return 1 << 27;
        return history[p.mover()][number_of(move)];
    }

    void remember(Move move, int seat, int depth, int ply) {
        if (!(move == killers[ply][0])) {
            killers[ply][1] = killers[ply][0];
            killers[ply][0] = move;
        }
        int &count = history[seat][number_of(move)];
        count = std::min(count + depth * depth, 1 << 26);
    }

    static int number_of(Move move) { return (move.forge * CELLS + move.from) * CELLS + move.to; }

    std::vector<Entry> table;
    std::array<std::array<Move, 2>, MOST_PLIES> killers{};
    std::array<std::array<int, 2 * CELLS * CELLS>, 2> history{};
    Time::time_point deadline;
    Move best, found;
};

// --- JSON and text ----------------------------------------------------------------------------------------------------

struct Json {  // a value: only what messages of the arena need
    std::map<std::string, Json> fields;
    std::vector<Json> items;
    std::string text;
    double number = 0;
    bool is_null = false;

    const Json &operator[](const std::string &name) const {
        static const Json nothing = [] { Json json; json.is_null = true; return json; }();
        auto found = fields.find(name);
        return found == fields.end() ? nothing : found->second;
    }
};

struct Reader {
    const char *at;
    char skip() {
        while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r' || *at == ',' || *at == ':') at++;
        return *at;
    }
    std::string string() {
        std::string read;
        for (at++; *at && *at != '"'; at++) {
            if (*at == '\\') at++;
            read += *at;
        }
        if (*at) at++;
        return read;
    }
    Json value() {
        Json json;
        char begins = skip();
        if (begins == '{') {
            at++;
            while (skip() == '"') {
                std::string name = string();
                json.fields[name] = value();
            }
            if (*at) at++;
        } else if (begins == '[') {
            at++;
            while (skip() && *at != ']') json.items.push_back(value());
            if (*at) at++;
        } else if (begins == '"') {
            json.text = string();
        } else if (begins == 't' || begins == 'f' || begins == 'n') {
            json.is_null = begins == 'n';
            json.number = begins == 't';
            while (*at >= 'a' && *at <= 'z') at++;
        } else {
            char *end;
            json.number = std::strtod(at, &end);
            at = end == at ? at + (*at != 0) : end;
        }
        return json;
    }
};

static Position empty_position(int turn_limit) {
    Position p;
    std::fill(p.height, p.height + CELLS, 0);
    std::fill(p.on, p.on + CELLS, 0);
    std::fill(&p.cell[0][0], &p.cell[0][0] + 2 * PIECES, int8_t(NOWHERE));
    p.turn_limit = int16_t(turn_limit);
    return p;
}

static void place_piece(Position &p, int seat, char letter, int at) {
    int place = letter == 'c' ? 0 : letter == 'l' ? 1 : 3;
    if (place && p.cell[seat][place] != NOWHERE) place++;
    p.put(seat, place, at);
}

static Position read_state(const Json &state, int turn_limit) {
    Position p = empty_position(turn_limit);
    for (int at = 0; at < CELLS; at++) p.set_height(at, int(state["board"].items[at / SIDE].items[at % SIDE].number));
    for (int seat = 0; seat < 2; seat++)
        for (const Json &piece : state[seat ? "p1" : "p0"].items)
            place_piece(p, seat, piece["type"].text[0], int(piece["r"].number) * SIDE + int(piece["c"].number));
    p.ply = int16_t(state["ply"].number);
    return p;
}

static Position read_line(const std::string &line, int turn_limit) {
    Position p = empty_position(turn_limit);
    std::istringstream words(line);
    std::string board, pieces;
    words >> board;
    int at = 0;
    for (char letter : board)
        if (letter != '/') p.set_height(at++, letter == 'x' ? VENT : letter - '0');
    for (int seat = 0; seat < 2; seat++) {
        words >> pieces;
        for (size_t i = 0; i + 2 < pieces.size(); i += 3)
            place_piece(p, seat, pieces[i], (pieces[i + 1] - '0') * SIDE + pieces[i + 2] - '0');
    }
    words >> p.ply;
    return p;
}

// --- The conversation with the arena ----------------------------------------------------------------------------------

constexpr double SHARE = 0.9, MARGIN = 0.004, WITHOUT_CLOCK = 0.1, MOVES_AHEAD = 30;

// Seconds for each move: most of the time of the clock, or a part of the bank. The same for every move of a game.
static double time_per_move(const Json &clock) {
    if (clock.is_null || clock["move_ms"].is_null) return WITHOUT_CLOCK;
    double seconds = clock["move_ms"].number / 1000;
    if (!(seconds > 0)) seconds = clock["bank_ms"].number / 1000 / MOVES_AHEAD + clock["increment_ms"].number / 1000;
    return seconds > 0 ? std::max(SHARE * seconds - MARGIN, 0.001) : WITHOUT_CLOCK;
}

static void converse() {
    auto search = std::make_unique<Search>();
    int turn_limit = 200;
    double seconds = WITHOUT_CLOCK;
    std::string line;
    while (std::getline(std::cin, line)) {
        Json message = Reader{line.c_str()}.value();
        if (message["type"].text == "hello") {
            search = std::make_unique<Search>();
            if (!message["options"]["turn_limit"].is_null) turn_limit = int(message["options"]["turn_limit"].number);
            seconds = time_per_move(message["clock"]);
            std::printf("{\"type\": \"ready\", \"games\": \"many\"}\n");
        } else if (message["type"].text == "turn") {
            Move move = search->choose(read_state(message["state"], turn_limit), seconds);
            int turn = int(message["turn"].number);
            std::printf("{\"type\": \"info\", \"turn\": %d, \"depth\": %d, \"score\": %d, \"nodes\": %llu}\n", turn,
                        search->depth, search->value, (unsigned long long)search->nodes);
            const char *shape = move.forge
                ? "{\"type\": \"move\", \"turn\": %d, \"move\": {\"action\": \"forge\", \"smith\": [%d, %d], \"target\": [%d, %d]}}\n"
                : "{\"type\": \"move\", \"turn\": %d, \"move\": {\"action\": \"move\", \"from\": [%d, %d], \"to\": [%d, %d]}}\n";
            std::printf(shape, turn, move.from / SIDE, move.from % SIDE, move.to / SIDE, move.to % SIDE);
        }
        std::fflush(stdout);
    }
}

int main(int count, char **words) {
    set_up_geometry();
    set_up_keys();
    if (count == 5 && std::string(words[1]) == "perft")
        std::printf("%llu\n", (unsigned long long)perft(read_line(words[4], std::atoi(words[2])), std::atoi(words[3])));
    else
        converse();
    return 0;
}
